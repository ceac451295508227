#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Our definitions of the runtime's functions: weak, so that a runtime that is linked statically keeps its own. Each is
// a jump through a table; what stands there at first finds the runtime's function (functions.c).
#include "zombies/functions/each_function_x86_64.h"
#include "platform/memory/own_data.h"

#if defined(__x86_64__)
__asm__(UNDEAD_KEEP_ARGUMENTS
    ".macro undead_entry name, index\n"
    ".weak \\name\n"
    ".type \\name, @function\n"
    ".balign 16\n"
    "\\name:\n"
    ".cfi_startproc\n"
    "  jmp *(undead_swift_target + 8 * \\index)(%rip)\n"
    ".cfi_endproc\n"
    ".size \\name, . - \\name\n"
    ".endm\n"
    // The first call: everything that may hold an argument is kept.
    ".macro undead_first_call name, index\n"
    ".balign 16\n"
    "undead_first_call_\\index:\n"
    ".cfi_startproc\n"
    "  movl $\\index, %r11d\n"
    "  jmp undead_find_function\n"
    ".cfi_endproc\n"
    ".endm\n"
    ".macro undead_quad name, index\n"
    "  .quad undead_first_call_\\index\n"
    ".endm\n"
    ".text\n"
    ".balign 16\n"
    ".globl undead_swift_entries\n"
    ".hidden undead_swift_entries\n"
    "undead_swift_entries:\n"
    UNDEAD_FUNCTIONS(0, "undead_entry", UNDEAD_EACH_FUNCTION)
    UNDEAD_FUNCTIONS(0, "undead_first_call", UNDEAD_EACH_FUNCTION)
    ".data\n"
    ".balign 8\n"
    ".globl undead_swift_real\n"
    ".hidden undead_swift_real\n"
    "undead_swift_real:\n"
    UNDEAD_FUNCTIONS(0, "undead_quad", UNDEAD_EACH_FUNCTION)
    ".globl undead_swift_target\n"
    ".hidden undead_swift_target\n"
    "undead_swift_target:\n"
    UNDEAD_FUNCTIONS(0, "undead_quad", UNDEAD_EACH_FUNCTION)
    ".text\n"
    ".balign 16\n"
    ".type undead_find_function, @function\n"
    "undead_find_function:\n"
    ".cfi_startproc\n"
    "  undead_save_arguments\n"
    "  movl %r11d, %edi\n"
    "  call undead_swift_function_called\n"
    "  movq %rax, %r11\n"
    "  undead_restore_arguments\n"
    "  jmp *%r11\n"
    ".cfi_endproc\n"
    ".size undead_find_function, . - undead_find_function\n"
    ".section .note.GNU-stack,\"\",@progbits\n"
    ".text\n");
#endif
#endif
