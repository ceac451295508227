#include "undead_supported.h"
#if UNDEAD_SUPPORTED && defined(__aarch64__)
// The same as images_x86_64.c. Untested on hardware.
#include "record/attach/images_x86_64.h"

// Both take at most three arguments, none of them a vector. The first instruction is one that indirect branches may lead to.
#define SEEN(name, real)                     \
  ".globl " name "\n"                        \
  ".hidden " name "\n"                       \
  ".type " name ", %function\n" name ":\n"   \
  ".cfi_startproc\n"                         \
  "  hint #34\n"                             \
  "  stp x29, x30, [sp, #-48]!\n"            \
  ".cfi_def_cfa_offset 48\n"                 \
  ".cfi_offset x29, -48\n"                   \
  ".cfi_offset x30, -40\n"                   \
  "  mov x29, sp\n"                          \
  "  stp x0, x1, [sp, #16]\n"                \
  "  str x2, [sp, #32]\n"                    \
  "  bl undead_look_for_images\n"            \
  "  ldr x2, [sp, #32]\n"                    \
  "  ldp x0, x1, [sp, #16]\n"                \
  "  ldp x29, x30, [sp], #48\n"              \
  ".cfi_restore x29\n"                       \
  ".cfi_restore x30\n"                       \
  ".cfi_def_cfa_offset 0\n"                  \
  "  adrp x16, " real "\n"                   \
  "  ldr x16, [x16, #:lo12:" real "]\n"      \
  "  br x16\n"                               \
  ".cfi_endproc\n"                           \
  ".size " name ", .-" name "\n"

__asm__(".text\n" SEEN("undead_dlopen_seen", "undead_real_dlopen") SEEN("undead_dlsym_seen", "undead_real_dlsym"));
#endif
