// Entering and leaving the allocator's hooks, and a gate behind them. While it is closed, a thread that leaves a hook
// waits there: a thread that must not be stopped inside only has to be given time, however little it gets to run.
#pragma once
#include "platform/memory/thread_state.h"
#include "record/abandoned.h"

// Code that enters hooks is in a section of its own, to distinguish its frames from those of the program.
#pragma clang section text = "undead_code"

#pragma GCC visibility push(hidden)

// The process whose threads wait; 0: the gate is open. A child of it that shares or copied its memory does not.
extern volatile int32_t undead_gate;

// Closes the gate for all threads but `scanner`. Opening lets go on who waits. Any thread, also of a helper process
// that shares the memory; async-signal-safe.
void undead_gate_close(int32_t process, int32_t scanner);
void undead_gate_open(void);

// Called outside of all hooks while the gate is closed.
void undead_gate_wait(void);

// True if the thread waits at the gate and stays there until it opens: then all that its caller needs lies from `*sp` on
// upwards on its stack.
bool undead_gate_holds(int32_t tid, uintptr_t *sp, uintptr_t *thread_pointer);

// A hook is known by the frame of the function that enters it, so that one which a signal handler has jumped out of
// is distinguished from one that is under way. Not twice in one function; leave it in the function that entered it.
static inline __attribute__((always_inline)) void undead_hook_enter(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  if (__builtin_expect(undead_thread.in_hook != 0, 0)) undead_hook_enter_again(frame);
  else undead_thread.in_hook = (uintptr_t)frame;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// The same where the thread is known to be in no hook.
static inline __attribute__((always_inline)) void undead_hook_enter_first(void) {
  undead_thread.in_hook = (uintptr_t)__builtin_frame_address(0);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// The same where what comes after it is up to the caller: true if that is to wait at the gate.
static inline __attribute__((always_inline)) bool undead_hook_leave_sees_gate(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(undead_thread.in_hook != (uintptr_t)__builtin_frame_address(0), 0)) return false;
  undead_thread.in_hook = 0;
  return __builtin_expect(undead_gate != 0, 0);
}

static inline __attribute__((always_inline)) void undead_hook_leave(void) {
  if (undead_hook_leave_sees_gate()) undead_gate_wait();
}

// For locks that are taken in one function and released in another: like a hook that is entered and left.
static inline void undead_hook_hold(void) { undead_thread.held++; }
static inline void undead_hook_let_go(void) {
  undead_thread.held--;
  if (undead_gate != 0) undead_gate_wait();
}

#pragma GCC visibility pop
