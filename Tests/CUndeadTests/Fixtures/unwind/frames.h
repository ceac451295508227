#pragma once
// Assembly that frames made by hand have in common, with what unwind tables say of it.

// A frame that is found by a register, whose old value is saved at its start.
#define FRAME_BY(reg)                  \
  "  push %" reg "\n"                  \
  ".cfi_def_cfa_offset 16\n"           \
  ".cfi_offset %" reg ", -16\n"        \
  "  mov %rsp, %" reg "\n"             \
  ".cfi_def_cfa_register %" reg "\n"

// As compilers realign a stack.
#define REALIGNED_FRAME                \
  "  lea 8(%rsp), %r10\n"              \
  ".cfi_def_cfa %r10, 0\n"             \
  "  and $-64, %rsp\n"                 \
  "  push -8(%r10)\n"                  \
  "  push %rbp\n"                      \
  ".cfi_escape 0x10,0x6,0x2,0x76,0\n"  \
  "  mov %rsp, %rbp\n"                 \
  "  push %r10\n"                      \
  ".cfi_escape 0xf,0x3,0x76,0x78,0x6\n" \
  "  sub $104, %rsp\n"

#define REALIGNED_END                  \
  "  mov -8(%rbp), %r10\n"             \
  ".cfi_def_cfa %r10, 0\n"             \
  "  leave\n"                          \
  "  lea -8(%r10), %rsp\n"

#define RETURN                         \
  ".cfi_def_cfa %rsp, 8\n"             \
  "  ret\n"                            \
  ".cfi_endproc\n"
