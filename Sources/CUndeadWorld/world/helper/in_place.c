#include "world/helper/clone.h"
#include "platform/memory/own_data.h"
#include "world/crew.h"
#include "world/threads/sigaction.h"
#include <setjmp.h>

static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
enum { FAULTS = sizeof faults / sizeof *faults };

static struct {
  jmp_buf way_out;
  uintptr_t address;
} escape;

static void leave(int number, uintptr_t address) {
  escape.address = address;
  _longjmp(escape.way_out, number);
}

static void crashed_in_place(int number, siginfo_t *info, void *context) {
  (void)context;
  undead_crew_crash(number, (uintptr_t)info->si_addr);
  undead_helper_fault(number, (uintptr_t)info->si_addr);
}

undead_helper_report undead_helper_run_in_place(int (*work)(void *), void *context) {
  undead_signal_action before[FAULTS];
  uint64_t mask = 0;
  undead_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, 8);
  for (unsigned i = 0; i < FAULTS; i++) undead_set_action(faults[i], NULL, &before[i]);
  undead_helper_report report = {UNDEAD_HELPER_DONE, 0, 0};
  int number = _setjmp(escape.way_out);
  if (number == 0) {
    undead_helper_at_fault(leave);
    undead_take_over_faults(crashed_in_place);
    report.value = work(context);
  } else {
    report = (undead_helper_report){UNDEAD_HELPER_CRASHED, number, escape.address};
  }
  for (unsigned i = 0; i < FAULTS; i++) undead_set_action(faults[i], &before[i], NULL);
  undead_raw4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8);
  return report;
}
