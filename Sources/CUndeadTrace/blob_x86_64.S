#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// An allocator that only goes forward, for a process with one thread that is thrown away afterwards.
//
// Blocks look to the C library as those that it mapped itself (size in the word before, bit 1 set), so that their size
// can be asked. Blocks of the program's own allocator may be given back and grown: they are left where they are.
// Nothing here refers to anything outside: the code is copied to any page, its variables lie in the next one.

#define NEXT undead_blob_start + 4096(%rip)
#define END undead_blob_start + 4104(%rip)
#define MAPPED 2

  .section .rodata.undead_blob, "a", @progbits
  .balign 4096
  .globl undead_blob_start, undead_blob_end, undead_blob_malloc, undead_blob_calloc, undead_blob_realloc
  .globl undead_blob_free, undead_blob_memalign, undead_blob_posix_memalign, undead_blob_zero
  .globl undead_blob_system_call, undead_blob_trap
  .hidden undead_blob_start, undead_blob_end, undead_blob_malloc, undead_blob_calloc, undead_blob_realloc
  .hidden undead_blob_free, undead_blob_memalign, undead_blob_posix_memalign, undead_blob_zero
  .hidden undead_blob_system_call, undead_blob_trap
undead_blob_start:

  .balign 16
undead_blob_malloc:
  mov %rdi, %rsi
  mov $16, %edi

// (alignment, a power of two of at least 16; size)
allocate:
  mov %rsi, %rdx
  shr $46, %rdx
  jnz refuse
  mov NEXT, %rax
  lea 15(%rax,%rdi), %rax
  mov %rdi, %rcx
  neg %rcx
  and %rcx, %rax
  lea 15(%rsi), %rdx
  and $-16, %rdx
  jnz 1f
  mov $16, %edx
1:
  lea (%rax,%rdx), %rcx
  cmp END, %rcx
  ja refuse
  mov %rcx, NEXT
  add $16 + MAPPED, %rdx
  mov %rdx, -8(%rax)
  movq $0, -16(%rax)
  ret
refuse:
  xor %eax, %eax
  ret

  .balign 16
undead_blob_memalign:
  cmp $16, %rdi
  jae allocate
  mov $16, %edi
  jmp allocate

  .balign 16
undead_blob_posix_memalign:
  push %rdi
  mov %rsi, %rdi
  mov %rdx, %rsi
  call undead_blob_memalign
  pop %rdi
  test %rax, %rax
  jz 1f
  mov %rax, (%rdi)
  xor %eax, %eax
  ret
1:
  mov $12, %eax
  ret

  .balign 16
undead_blob_calloc:
  mov %rdi, %rax
  mul %rsi
  jo refuse
  mov %rax, %rdi
  push %rax
  call undead_blob_malloc
  pop %rcx
  test %rax, %rax
  jz 1f
  // What was given back last comes again, and is not clear.
  mov %rax, %rdx
  mov %rax, %rdi
  xor %eax, %eax
  rep stosb
  mov %rdx, %rax
1:
  ret

// Only the newest block makes room.
  .balign 16
undead_blob_free:
  test %rdi, %rdi
  jz 1f
  mov -8(%rdi), %rdx
  and $-16, %rdx
  lea -16(%rdi,%rdx), %rdx
  cmp NEXT, %rdx
  jne 1f
  sub $16, %rdi
  mov %rdi, NEXT
1:
  ret

  .balign 16
undead_blob_realloc:
  test %rdi, %rdi
  jnz 1f
  mov %rsi, %rdi
  jmp undead_blob_malloc
1:
  push %rdi
  push %rsi
  sub $8, %rsp
  mov %rsi, %rdi
  call undead_blob_malloc
  add $8, %rsp
  pop %rcx
  pop %rsi
  test %rax, %rax
  jz 3f
  // A mapped block has two words before it, another one has one, as seen from its size.
  mov -8(%rsi), %rdx
  mov %rdx, %r8
  and $-16, %rdx
  sub $8, %rdx
  test $MAPPED, %r8b
  jz 2f
  sub $8, %rdx
2:
  cmp %rdx, %rcx
  cmova %rdx, %rcx
  mov %rax, %rdi
  rep movsb
3:
  ret

  .balign 16
undead_blob_zero:
  xor %eax, %eax
  ret

  .balign 16
undead_blob_system_call:
  syscall
undead_blob_trap:
  int3
  hlt
undead_blob_end:

#endif

#if defined(__linux__)
  .section .note.GNU-stack, "", %progbits
#endif
