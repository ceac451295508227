// Interposed entry points that must see the callee-saved registers as their caller left them, for x86-64.
#include "session/life/life.h"
#include <stddef.h>
#include <sys/syscall.h>

_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157 && SYS_mlockall == 151, "used below");
_Static_assert(SYS_setrlimit == 160 && SYS_getrlimit == 97 && SYS_prlimit64 == 302, "used below");
_Static_assert(offsetof(undead_call_site, sp) == 48 && offsetof(undead_call_site, return_address) == 56, "used below");

// A frame with the call site (undead_call_site, 64 bytes) at its start. What the rest of it holds is the stub's; it also aligns
// the stack for a call.
__asm__(
    ".macro undead_make_call_site bytes\n"
    "  subq $\\bytes, %rsp\n"
    ".cfi_adjust_cfa_offset \\bytes\n"
    "  movq %rbx, 0(%rsp)\n"
    "  movq %rbp, 8(%rsp)\n"
    "  movq %r12, 16(%rsp)\n"
    "  movq %r13, 24(%rsp)\n"
    "  movq %r14, 32(%rsp)\n"
    "  movq %r15, 40(%rsp)\n"
    "  leaq \\bytes + 8(%rsp), %rax\n"
    "  movq %rax, 48(%rsp)\n"
    "  movq \\bytes(%rsp), %rax\n"
    "  movq %rax, 56(%rsp)\n"
    ".endm\n");

// The argument is kept behind the call site.
__asm__(
    ".text\n"
    ".globl exit\n"
    ".type exit, @function\n"
    "exit:\n"
    ".cfi_startproc\n"
    "  undead_make_call_site 88\n"
    "  movl %edi, 64(%rsp)\n"
    "  movq %rsp, %rdi\n"
    "  call undead_exit_called\n"
    "  movl 64(%rsp), %edi\n"
    "  addq $88, %rsp\n"
    ".cfi_adjust_cfa_offset -88\n"
    "  jmp *%rax\n"
    ".cfi_endproc\n"
    ".size exit, .-exit\n");

// Calls that change the kernel's rules for the process are looked at; the others go on to libc as they came.
__asm__(
    ".text\n"
    ".globl syscall\n"
    ".type syscall, @function\n"
    "syscall:\n"
    ".cfi_startproc\n"
    "  cmpq $317, %rdi\n"   // seccomp
    "  je 1f\n"
    "  cmpq $157, %rdi\n"   // prctl
    "  je 1f\n"
    "  cmpq $160, %rdi\n"   // setrlimit
    "  je 1f\n"
    "  cmpq $151, %rdi\n"   // mlockall
    "  je 1f\n"
    "  cmpq $97, %rdi\n"   // getrlimit
    "  je 1f\n"
    "  cmpq $302, %rdi\n"   // prlimit64
    "  je 1f\n"
    "  movq undead_next_syscall(%rip), %rax\n"
    "  testq %rax, %rax\n"
    "  je 1f\n"
    "  jmp *%rax\n"
    "1:\n"
    "  jmp undead_syscall_called\n"
    ".cfi_endproc\n"
    ".size syscall, .-syscall\n");

// Stands in for main: lets the session begin, calls the real one, and has the check made when it has returned, before the
// C library ends the process. The registers that a callee saves are those of the call then.
__asm__(
    ".text\n"
    ".globl undead_main_stub\n"
    ".hidden undead_main_stub\n"
    ".type undead_main_stub, @function\n"
    "undead_main_stub:\n"
    ".cfi_startproc\n"
    "  subq $24, %rsp\n"
    ".cfi_adjust_cfa_offset 24\n"
    "  movq %rdi, 0(%rsp)\n"
    "  movq %rsi, 8(%rsp)\n"
    "  movq %rdx, 16(%rsp)\n"
    "  call undead_main_called\n"
    "  movq 0(%rsp), %rdi\n"
    "  movq 8(%rsp), %rsi\n"
    "  movq 16(%rsp), %rdx\n"
    "  call *%rax\n"
    "  addq $24, %rsp\n"
    ".cfi_adjust_cfa_offset -24\n"
    "  movl %eax, %edi\n"
    "  undead_make_call_site 88\n"
    "  movl %edi, 64(%rsp)\n"
    "  movq %rsp, %rdi\n"
    "  call undead_main_returned\n"
    "  movl 64(%rsp), %eax\n"
    "  addq $88, %rsp\n"
    ".cfi_adjust_cfa_offset -88\n"
    "  ret\n"
    ".cfi_endproc\n"
    ".size undead_main_stub, .-undead_main_stub\n"
    ".section .note.GNU-stack,\"\",@progbits\n"
    ".text\n");
