// Signal dispositions by the raw system call: nobody who interposes sigaction sees them.
#pragma once
#include "platform/processor/processor.h"
#include <signal.h>

// What the kernel takes (struct sigaction in include/linux/signal_types.h).
typedef struct {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
} undead_signal_action;

#define UNDEAD_SA_RESTORER 0x04000000ul

// Unwinders know a signal frame by exactly these bytes.
__attribute__((naked, unused)) static void undead_signal_return(void) {
  __asm__("movq $15, %rax\n\tsyscall");
}

static inline long undead_set_action(int number, const undead_signal_action *action, undead_signal_action *before) {
  return undead_raw4(SYS_rt_sigaction, number, (long)action, (long)before, 8);
}
