// Faults on pages of the pool.
#pragma once
#include <signal.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

typedef enum {
  UNDEAD_FENCED_NOT_MET,   // the fault is none of the pool's
  UNDEAD_FENCED_IS_OPEN,   // there is no reason for it any more
  UNDEAD_FENCED_GOES_ON,
  UNDEAD_FENCED_ENDS,      // it is the program's, as one of its own
} undead_fenced_answer;
undead_fenced_answer undead_fenced_fault(const siginfo_t *info, const ucontext_t *context);

#pragma GCC visibility pop
