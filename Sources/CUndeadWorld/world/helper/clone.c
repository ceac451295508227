#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "world/helper/clone.h"
#include "world/threads/sigaction.h"

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
#endif
