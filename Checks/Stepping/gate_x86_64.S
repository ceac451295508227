// Entered by a jump from the stub of an import, which has pushed its number.
#define KEY 0x5bd1e995c3a5965b
#define WORDS 42                       /* 16 vectors, 8 registers, r11, the number */
#define SAVED 24                       /* in thread_state */
#define SLOT 344                       /* of the return address, above the stack pointer */

.macro save
  pushq %r11
  .cfi_adjust_cfa_offset 8
  movq stepping_armed@GOTPCREL(%rip), %r11
  cmpl $0, (%r11)
  je 2f
  .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10
  pushq %\register
  .cfi_adjust_cfa_offset 8
  .endr
  subq $264, %rsp
  .cfi_adjust_cfa_offset 264
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  movdqu %xmm\n, 8 + 16 * \n(%rsp)
  .endr
  movq 336(%rsp), %rdi
  leaq SLOT(%rsp), %rsi
  call stepping_arrive@PLT
.endm

.macro restore_and_go_on
1:
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  movdqu 8 + 16 * \n(%rsp), %xmm\n
  .endr
  addq $264, %rsp
  .cfi_adjust_cfa_offset -264
  .irp register, r10, r9, r8, rdi, rsi, rdx, rcx, rax
  popq %\register
  .cfi_adjust_cfa_offset -8
  .endr
2: pushq %rax
  .cfi_adjust_cfa_offset 8
  movq 16(%rsp), %rax
  movq stepping_targets@GOTPCREL(%rip), %r11
  movq (%r11), %r11
  movq (%r11,%rax,8), %r11
  movq %r11, 16(%rsp)
  popq %rax
  popq %r11
  .cfi_adjust_cfa_offset -16
  ret                                  // to the import
.endm

.macro arguments_of_futex              // FUTEX_WAIT while the word is 1
  movl $202, %edi
  xorl %edx, %edx
  movl $1, %ecx
  xorl %r8d, %r8d
  xorl %r9d, %r9d
  xorl %r10d, %r10d
  xorl %eax, %eax
.endm

.macro copy_scrambled from, to
  movabsq $KEY, %rdx
  movl $WORDS, %ecx
7: movq -8(\from,%rcx,8), %r8
  xorq %rdx, %r8
  movq %r8, -8(\to,%rcx,8)
  decl %ecx
  jnz 7b
.endm

  .text
// The thread waits in libc as if its code had called that: with the registers that a callee must preserve and nothing
// else. What the import is to get lies elsewhere, unrecognisable.
  .globl stepping_gate
  .type stepping_gate, @function
stepping_gate:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  save
  testq %rax, %rax
  jz 1f
  leaq 8(%rsp), %rsi
  leaq SAVED(%rax), %rdi
  copy_scrambled %rsi, %rdi
  movq %rax, %rsi
  arguments_of_futex
  .cfi_remember_state
  leaq SLOT(%rsp), %rsp
  .cfi_def_cfa_offset 8
  jmp syscall@PLT
  .cfi_restore_state
  restore_and_go_on
  .cfi_endproc
  .size stepping_gate, . - stepping_gate

// What the wait returns to, once it is over.
  .globl stepping_resume
  .type stepping_resume, @function
stepping_resume:
  .cfi_startproc
  subq $(SLOT + 8), %rsp
  .cfi_def_cfa_offset SLOT + 8
  call stepping_own@PLT
  leaq SAVED(%rax), %rsi
  leaq 8(%rsp), %rdi
  copy_scrambled %rsi, %rdi
  movq 8(%rax), %rdx
  movq %rdx, SLOT(%rsp)
  restore_and_go_on
  .cfi_endproc
  .size stepping_resume, . - stepping_resume

// By its name code of the Swift runtime: such calls are no opaque ones, and use their arguments until the end.
  .globl swift_stepping_gate
  .type swift_stepping_gate, @function
swift_stepping_gate:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  save
  testq %rax, %rax
  jz 1f
  movq %rax, (%rsp)
0: movq (%rsp), %rsi
  cmpl $1, (%rsi)
  jne 1f
  arguments_of_futex
  call syscall@PLT
  jmp 0b
  restore_and_go_on
  .cfi_endproc
  .size swift_stepping_gate, . - swift_stepping_gate
  .section .note.GNU-stack, "", @progbits
