#include "world/helper/clone.h"
#include "platform/processor/processor.h"
#include "world/threads/sigaction.h"
#include <sched.h>

long undead_clone_on_stack(unsigned long more_flags, void *stack_top, uint32_t *tid, int (*entry)(void *)) {
  unsigned long flags = CLONE_VM | CLONE_FS | CLONE_UNTRACED | CLONE_CHILD_CLEARTID | more_flags;
  uintptr_t *stack = (uintptr_t *)((uintptr_t)stack_top & ~(uintptr_t)15);
  *--stack = 0;
  *--stack = (uintptr_t)entry;
  long result;
  register long r10 __asm__("r10") = (long)tid;
  register long r8 __asm__("r8") = 0;
  __asm__ volatile(
    "syscall\n\t"
    "test %%rax, %%rax\n\t"
    "jnz 1f\n\t"
    "xor %%ebp, %%ebp\n\t"
    "pop %%rax\n\t"
    "pop %%rdi\n\t"
    "call *%%rax\n\t"
    "mov %%eax, %%edi\n\t"
    "mov %[leave], %%eax\n\t"
    "syscall\n\t"
    "hlt\n"
    "1:"
    : "=a"(result)
    : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(tid), "r"(r10), "r"(r8), [leave] "i"(SYS_exit_group)
    : "rcx", "r11", "memory", "cc");
  return result;
}

void undead_take_over_faults(void (*handler)(int, siginfo_t *, void *)) {
  undead_signal_action action = {
    .handler = handler, .flags = SA_SIGINFO | SA_NODEFER | UNDEAD_SA_RESTORER, .restorer = undead_signal_return};
  static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
  uint64_t unblock = 0;
  for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
    undead_set_action(faults[i], &action, NULL);
    unblock |= 1ull << (faults[i] - 1);
  }
  undead_raw4(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&unblock, 0, 8);
}
