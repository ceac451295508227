// Which part of the calling thread's stack can be read without a fault. Found by asking the kernel, page by page and
// only once: pthread_getattr_np would allocate and lock.
#pragma once
#include "platform/memory/thread_state.h"
#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool undead_stack_extend(undead_thread_state *thread, uintptr_t sp);

// True if all of [sp, thread->stack_high) is readable, and stays so while the thread lives. False on other stacks
// (alternate signal stacks, fibers).
static inline __attribute__((always_inline)) bool undead_stack_covers(undead_thread_state *thread, uintptr_t sp) {
  if (__builtin_expect(sp - thread->stack_low < thread->stack_high - thread->stack_low, 1)) return true;
  return undead_stack_extend(thread, sp);
}

// True if the calling function has so many bytes left for sure, on the thread's own stack.
bool undead_stack_has_room(undead_thread_state *thread, uintptr_t bytes);

#pragma GCC visibility pop
