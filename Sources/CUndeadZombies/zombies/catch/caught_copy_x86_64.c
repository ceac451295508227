#include "zombies/catch/caught_copy_x86_64.h"

__asm__(
    ".pushsection .text\n"
    ".hidden undead_caught_copy, undead_caught_copy_reads, undead_caught_copy_failed\n"
    ".globl undead_caught_copy, undead_caught_copy_reads, undead_caught_copy_failed\n"
    ".type undead_caught_copy, @function\n"
    "undead_caught_copy:\n"
    ".cfi_startproc\n"
    "  movq %rdx, %rcx\n"
    "undead_caught_copy_reads:\n"
    "  rep movsq\n"
    "  movl $1, %eax\n"
    "  ret\n"
    "undead_caught_copy_failed:\n"
    "  xorl %eax, %eax\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size undead_caught_copy, . - undead_caught_copy\n"
    ".popsection\n");

extern const char undead_caught_copy_reads[], undead_caught_copy_failed[];

bool undead_caught_copy_ends(ucontext_t *context) {
  greg_t *place = &context->uc_mcontext.gregs[REG_RIP];
  if (*place != (greg_t)undead_caught_copy_reads) return false;
  *place = (greg_t)undead_caught_copy_failed;
  return true;
}
