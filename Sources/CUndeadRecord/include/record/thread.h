// What the instrument keeps for each thread. Initial-exec TLS: the same offset from the thread pointer everywhere.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  volatile uint32_t in_hook;   // > 0 while the thread is inside an allocator hook: it must not be kept stopped there
  volatile uint32_t ignored;   // > 0: allocations of this thread are the tool's own and are not registered
  void *unwind_cache;          // undead_unwind_cache; NULL until the first backtrace
  uint32_t without_cache;      // the thread is about to end, or there was no room: capture without a cache
  uint32_t asks_scope;         // the thread is finding out its allocation scope
  uintptr_t stack_low, stack_high, stack_barrier;   // see unwind/stack.h
} undead_thread_state;

extern __thread undead_thread_state undead_thread __attribute__((tls_model("initial-exec")));

// `undead_thread` of the thread whose thread pointer (fs base) is `thread_pointer`; readable while that thread lives.
undead_thread_state *undead_thread_of(uintptr_t thread_pointer);

#pragma GCC visibility pop
