// The versions of the runtime's functions that watch for zombies. They only compare the isa with the range of zombie classes, and
// change no register but r11, as the stubs of the PLT do.
#include "zombies/catch/watching_x86_64.h"
#include "platform/memory/own_data.h"
#include "zombies/classes/zombie_class.h"
#include "zombies/functions/each_function_x86_64.h"

#define TEXT(value) #value
#define NUMBER(value) TEXT(value)

__asm__(UNDEAD_KEEP_ARGUMENTS
    // Retain and release: any word with tag bits, of which the runtime takes these for the address.
    ".macro undead_watch_tagged name, index\n"
    ".balign 16\n"
    ".type undead_watching_\\name, @function\n"
    "undead_watching_\\name:\n"
    ".cfi_startproc\n"
    "  testq %rdi, %rdi\n"
    "  jle 1f\n"
    "  movabsq $0x00FFFFFFFFFFFFF8, %r11\n"
    "  andq %rdi, %r11\n"
    "  movq (%r11), %r11\n"
    "  subq undead_zombie_isas(%rip), %r11\n"
    "  cmpq $" NUMBER(UNDEAD_ZOMBIE_ISA_BYTES) ", %r11\n"
    "  jb 2f\n"
    "1: jmp *(undead_swift_real + 8 * \\index)(%rip)\n"
    "2: movl $\\index, %r11d\n"
    "  jmp undead_zombie_touched_stub\n"
    ".cfi_endproc\n"
    ".size undead_watching_\\name, . - undead_watching_\\name\n"
    ".endm\n"
    ".macro undead_watch_closely name, index\n"
    ".balign 16\n"
    ".type undead_closely_\\name, @function\n"
    "undead_closely_\\name:\n"
    ".cfi_startproc\n"
    "  movl $\\index, %r11d\n"
    "  jmp undead_zombie_touched_stub\n"
    ".cfi_endproc\n"
    ".size undead_closely_\\name, . - undead_closely_\\name\n"
    ".endm\n"
    ".macro undead_table_entry name, index\n"
    "  .quad undead_watching_\\name\n"
    ".endm\n"
    ".macro undead_close_table_entry name, index\n"
    "  .quad undead_closely_\\name\n"
    ".endm\n"
    ".macro undead_no_table_entry name, index\n"
    "  .quad 0\n"
    ".endm\n"
    ".text\n"
    UNDEAD_FUNCTIONS(3, "undead_watch_tagged", UNDEAD_FUNCTIONS_OF_COUNTS)
    UNDEAD_FUNCTIONS(19, "undead_watch_tagged", UNDEAD_FUNCTIONS_OF_OTHERS)
    UNDEAD_FUNCTIONS(3, "undead_watch_closely", UNDEAD_FUNCTIONS_OF_COUNTS)
    ".section .data.rel.ro, \"aw\"\n"
    ".balign 8\n"
    ".globl undead_swift_watching\n"
    ".hidden undead_swift_watching\n"
    "undead_swift_watching:\n"
    "  .quad undead_class_instance_ends\n"
    "  .quad undead_object_died\n"
    "  .quad 0\n"
    UNDEAD_FUNCTIONS(3, "undead_table_entry", UNDEAD_FUNCTIONS_OF_COUNTS)
    UNDEAD_FUNCTIONS(19, "undead_table_entry", UNDEAD_FUNCTIONS_OF_OTHERS)
    ".globl undead_swift_watching_closely\n"
    ".hidden undead_swift_watching_closely\n"
    "undead_swift_watching_closely:\n"
    "  .quad 0, 0, 0\n"
    UNDEAD_FUNCTIONS(3, "undead_close_table_entry", UNDEAD_FUNCTIONS_OF_COUNTS)
    UNDEAD_FUNCTIONS(19, "undead_no_table_entry", UNDEAD_FUNCTIONS_OF_OTHERS)
    ".text\n");

// Optimised code puts releases together, one too many among them: the runtime ends the object and does not say that there
// was another. So they are made one by one, until the object is dead.
__asm__(
    ".balign 16\n"
    ".globl undead_watching_each_release\n"
    ".hidden undead_watching_each_release\n"
    ".type undead_watching_each_release, @function\n"
    "undead_watching_each_release:\n"
    ".cfi_startproc\n"
    "  cmpl $2, %esi\n"
    "  jb undead_watching_swift_release_n\n"
    "  testq %rdi, %rdi\n"
    "  jle undead_watching_swift_release_n\n"
    "  pushq %rbx\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbx, -16\n"
    "  pushq %r12\n"
    ".cfi_def_cfa_offset 24\n"
    ".cfi_offset %r12, -24\n"
    "  subq $8, %rsp\n"
    ".cfi_def_cfa_offset 32\n"
    "  movq %rdi, %rbx\n"
    "  movl %esi, %r12d\n"
    "1: movabsq $0x00FFFFFFFFFFFFF8, %r11\n"
    "  andq %rbx, %r11\n"
    "  movq (%r11), %r11\n"
    "  subq undead_zombie_isas(%rip), %r11\n"
    "  cmpq $" NUMBER(UNDEAD_ZOMBIE_ISA_BYTES) ", %r11\n"
    "  jb 2f\n"
    "  cmpl $1, %r12d\n"
    "  je 2f\n"
    "  decl %r12d\n"
    "  movq %rbx, %rdi\n"
    "  call *(undead_swift_real + 8 * 11)(%rip)\n"
    "  jmp 1b\n"
    "2: movq %rbx, %rdi\n"
    "  movl %r12d, %esi\n"
    "  addq $8, %rsp\n"
    ".cfi_def_cfa_offset 24\n"
    "  popq %r12\n"
    ".cfi_def_cfa_offset 16\n"
    "  popq %rbx\n"
    ".cfi_def_cfa_offset 8\n"
    "  jmp undead_watching_swift_release_n\n"
    ".cfi_endproc\n"
    ".size undead_watching_each_release, . - undead_watching_each_release\n");

__asm__(
    ".text\n"
    // A zombie was given to the function r11. The answer is a function to go on with, 0 to return the argument, or 1 to
    // stop here, with the caller in the next frame.
    ".balign 16\n"
    ".type undead_zombie_touched_stub, @function\n"
    "undead_zombie_touched_stub:\n"
    ".cfi_startproc\n"
    "  undead_save_arguments\n"
    "  movl %r11d, %esi\n"
    "  movq 8(%rbp), %rdx\n"
    "  leaq 16(%rbp), %rcx\n"
    "  movq (%rbp), %r8\n"
    "  subq $48, %rsp\n"
    "  movq %rbx, (%rsp)\n"
    "  movq %r12, 8(%rsp)\n"
    "  movq %r13, 16(%rsp)\n"
    "  movq %r14, 24(%rsp)\n"
    "  movq %r15, 32(%rsp)\n"
    "  movq %rsp, %r9\n"
    "  call undead_zombie_touched\n"
    "  addq $48, %rsp\n"
    "  cmpq $1, %rax\n"
    "  je 2f\n"
    "  movq %rax, %r11\n"
    ".cfi_remember_state\n"
    "  undead_restore_arguments\n"
    "  testq %r11, %r11\n"
    "  je 1f\n"
    "  jmp *%r11\n"
    "1: movq %rdi, %rax\n"
    "  ret\n"
    ".cfi_restore_state\n"
    "2: ud2\n"
    ".cfi_endproc\n"
    ".size undead_zombie_touched_stub, . - undead_zombie_touched_stub\n"
    ".section .note.GNU-stack,\"\",@progbits\n"
    ".text\n");

undead_swift_function undead_watching_function_at(uintptr_t pc, uint32_t *depth) {
  enum { LONGEST = 64, LONGEST_OF_EACH = 128, PUSHED = 24 };
  *depth = 0;
  for (int i = UNDEAD_SWIFT_RETAIN; i < UNDEAD_SWIFT_FUNCTION_COUNT; i++)
    if (pc - undead_swift_watching[i] < LONGEST) return (undead_swift_function)i;
  *depth = PUSHED;
  return pc - (uintptr_t)undead_watching_each_release < LONGEST_OF_EACH ? UNDEAD_SWIFT_RELEASE_N : UNDEAD_SWIFT_FUNCTION_COUNT;
}

const undead_watching_functions undead_watching = {
  undead_swift_watching, undead_swift_watching_closely, undead_watching_each_release};
