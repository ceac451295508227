// Macros of the assembler that the files with our versions of the runtime's functions share (entries_x86_64.c, watching_x86_64.c).
#pragma once
#include "platform/processor/assembly_x86_64.h"
#include "zombies/functions/functions.h"

// For the assembler, which counts: MACRO with the name of each function of a group and its index, from `first` on.
#define UNDEAD_NEXT_FUNCTION(name, function) \
  "  undead_of_each " #function ", %undead_index\n" \
  "  .set undead_index, undead_index + 1\n"
#define UNDEAD_FUNCTIONS(first, MACRO, group) \
  ".altmacro\n" \
  ".macro undead_of_each name, index\n" \
  "  " MACRO " \\name, \\index\n" \
  ".endm\n" \
  ".set undead_index, " #first "\n" \
  group(UNDEAD_NEXT_FUNCTION) \
  ".purgem undead_of_each\n" \
  ".noaltmacro\n"

_Static_assert(UNDEAD_SWIFT_RETAIN == 3 && UNDEAD_SWIFT_RELEASE == 11 && UNDEAD_SWIFT_UNOWNED_RETAIN_STRONG == 19 &&
                   UNDEAD_SWIFT_FUNCTION_COUNT == 28,
               "where the groups begin, as the assembler has it");

// r11 is the function's index. Arguments are kept around the call.
#define UNDEAD_KEEP_ARGUMENTS \
  ".macro undead_save_arguments\n" \
  UNDEAD_FRAME_BEGIN \
  "  andq $-16, %rsp\n" \
  "  subq $64, %rsp\n" \
  UNDEAD_SAVE_ARGUMENTS \
  "  movq %r10, 56(%rsp)\n" \
  ".endm\n" \
  ".macro undead_restore_arguments\n" \
  UNDEAD_RESTORE_ARGUMENTS \
  "  movq 56(%rsp), %r10\n" \
  UNDEAD_FRAME_END \
  ".endm\n"
