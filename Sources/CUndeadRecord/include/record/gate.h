// Entering and leaving the allocator's hooks, and a gate behind them. While it is closed, whoever comes out of a hook
// waits there: a thread that must not be stopped inside only has to be given time, however little it gets to run.
#pragma once
#include "record/thread.h"

#pragma GCC visibility push(hidden)

// The process whose threads wait; 0: the gate is open. A child of it that shares or copied its memory does not.
extern volatile int32_t undead_gate;

// Closes the gate for all threads but `scanner`. Opening lets go on who waits. Any thread, also of a helper process
// that shares the memory; async-signal-safe.
void undead_gate_close(int32_t process, int32_t scanner);
void undead_gate_open(void);

// Called outside of all hooks while the gate is closed.
void undead_gate_wait(void);

static inline __attribute__((always_inline)) void undead_hook_enter(void) {
  undead_thread.in_hook++;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline __attribute__((always_inline)) void undead_hook_leave(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  undead_thread.in_hook--;
  if (__builtin_expect(undead_gate != 0, 0)) undead_gate_wait();
}

#pragma GCC visibility pop
