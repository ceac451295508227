// Pieces of functions in assembly language, for x86-64.
#pragma once

// A frame that is found by rbp, so that debuggers and unwinders get across whatever becomes of the stack pointer.
#define UNDEAD_FRAME_BEGIN \
  "  pushq %rbp\n" \
  ".cfi_def_cfa_offset 16\n" \
  ".cfi_offset %rbp, -16\n" \
  "  movq %rsp, %rbp\n" \
  ".cfi_def_cfa_register %rbp\n"
#define UNDEAD_FRAME_END \
  "  movq %rbp, %rsp\n" \
  "  popq %rbp\n" \
  ".cfi_def_cfa %rsp, 8\n"

// What may hold arguments, but for vectors and the static chain: the lowest 56 bytes of the stack.
#define UNDEAD_SAVE_ARGUMENTS \
  "  movq %rdi, 0(%rsp)\n" \
  "  movq %rsi, 8(%rsp)\n" \
  "  movq %rdx, 16(%rsp)\n" \
  "  movq %rcx, 24(%rsp)\n" \
  "  movq %r8, 32(%rsp)\n" \
  "  movq %r9, 40(%rsp)\n" \
  "  movq %rax, 48(%rsp)\n"
#define UNDEAD_RESTORE_ARGUMENTS \
  "  movq 0(%rsp), %rdi\n" \
  "  movq 8(%rsp), %rsi\n" \
  "  movq 16(%rsp), %rdx\n" \
  "  movq 24(%rsp), %rcx\n" \
  "  movq 32(%rsp), %r8\n" \
  "  movq 40(%rsp), %r9\n" \
  "  movq 48(%rsp), %rax\n"
