// Macros of the assembler that the files with our versions of the runtime's functions share (entries_x86_64.c, watching_x86_64.c).
#pragma once
#include "platform/processor/assembly_x86_64.h"
#include "zombies/functions/functions.h"

// The functions and their places in the tables (undead_swift_function).
#define UNDEAD_EACH_FUNCTION \
  ".macro undead_each_count macro\n" \
  "  \\macro swift_retain, 3\n" \
  "  \\macro swift_retain_n, 4\n" \
  "  \\macro swift_nonatomic_retain, 5\n" \
  "  \\macro swift_nonatomic_retain_n, 6\n" \
  "  \\macro swift_bridgeObjectRetain, 7\n" \
  "  \\macro swift_bridgeObjectRetain_n, 8\n" \
  "  \\macro swift_nonatomic_bridgeObjectRetain, 9\n" \
  "  \\macro swift_nonatomic_bridgeObjectRetain_n, 10\n" \
  "  \\macro swift_release, 11\n" \
  "  \\macro swift_release_n, 12\n" \
  "  \\macro swift_nonatomic_release, 13\n" \
  "  \\macro swift_nonatomic_release_n, 14\n" \
  "  \\macro swift_bridgeObjectRelease, 15\n" \
  "  \\macro swift_bridgeObjectRelease_n, 16\n" \
  "  \\macro swift_nonatomic_bridgeObjectRelease, 17\n" \
  "  \\macro swift_nonatomic_bridgeObjectRelease_n, 18\n" \
  ".endm\n" \
  ".macro undead_each_other macro\n" \
  "  \\macro swift_unownedRetainStrong, 19\n" \
  "  \\macro swift_unownedRetainStrongAndRelease, 20\n" \
  "  \\macro swift_nonatomic_unownedRetainStrong, 21\n" \
  "  \\macro swift_nonatomic_unownedRetainStrongAndRelease, 22\n" \
  "  \\macro swift_unownedCheck, 23\n" \
  "  \\macro swift_dynamicCastClass, 24\n" \
  "  \\macro swift_dynamicCastClassUnconditional, 25\n" \
  "  \\macro swift_dynamicCastUnknownClass, 26\n" \
  "  \\macro swift_dynamicCastUnknownClassUnconditional, 27\n" \
  ".endm\n"

_Static_assert(UNDEAD_SWIFT_ALLOC_OBJECT == 2 && UNDEAD_SWIFT_RETAIN == 3 && UNDEAD_SWIFT_RELEASE == 11 &&
                   UNDEAD_SWIFT_UNOWNED_RETAIN_STRONG == 19 &&
                   UNDEAD_SWIFT_DYNAMIC_CAST_CLASS == 24 && UNDEAD_SWIFT_FUNCTION_COUNT == 28,
               "used above");

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
