#include "record/attach/images_x86_64.h"
#include "platform/memory/own_data.h"

uintptr_t undead_real_dlopen, undead_real_dlsym;
void (*undead_look_for_images)(void);

// Both take at most three arguments, none of them a vector.
#define SEEN(name, real)                   \
  ".globl " name "\n"                      \
  ".hidden " name "\n"                     \
  ".type " name ", @function\n" name ":\n" \
  ".cfi_startproc\n"                       \
  "  pushq %rdi\n"                         \
  ".cfi_adjust_cfa_offset 8\n"             \
  "  pushq %rsi\n"                         \
  ".cfi_adjust_cfa_offset 8\n"             \
  "  pushq %rdx\n"                         \
  ".cfi_adjust_cfa_offset 8\n"             \
  "  call *undead_look_for_images(%rip)\n" \
  "  popq %rdx\n"                          \
  ".cfi_adjust_cfa_offset -8\n"            \
  "  popq %rsi\n"                          \
  ".cfi_adjust_cfa_offset -8\n"            \
  "  popq %rdi\n"                          \
  ".cfi_adjust_cfa_offset -8\n"            \
  "  jmp *" real "(%rip)\n"                \
  ".cfi_endproc\n"                         \
  ".size " name ", .-" name "\n"

__asm__(".text\n" SEEN("undead_dlopen_seen", "undead_real_dlopen") SEEN("undead_dlsym_seen", "undead_real_dlsym"));
