// What the instrument keeps for each thread. Initial-exec TLS: the same offset from the thread pointer everywhere.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum {
  UNDEAD_CACHE_BEING_MADE = 1,   // what is called for it may allocate
  UNDEAD_CACHE_GIVEN_BACK = 2,   // the thread is about to end
};

typedef struct {
  uintptr_t in_hook;           // frame of the outermost allocator hook that was entered and not left, 0: none (gate.h)
  volatile uint32_t held;      // > 0: the thread holds locks of ours between one call and another, like inside a hook
  volatile uint32_t ignored;   // > 0: allocations of this thread are the tool's own and are not registered
  int64_t sample_left;         // bytes until the next sample (sample.h)
  uint64_t sample_seed;        // 0: none was drawn yet
  int64_t choice_left;         // blocks until the next one that is chosen (block_source.h)
  uint64_t choice_seed;        // 0: none was drawn yet
  const void *no_cache;        // always NULL (record/way/thread_cache.h)
  uint32_t sample_mean;        // that `sample_left` was drawn with
  void *unwind_cache;          // undead_unwind_cache; NULL until the first backtrace
  uint32_t without_cache;      // captures go without a cache: UNDEAD_CACHE_...
  uint32_t abandoned_hooks;    // how many hooks a signal handler jumped out of
  uint32_t asks_scope;         // the thread is finding out its allocation scope
  uint32_t unscoped;           // > 0: what it allocates belongs to no scope
  uint32_t scope_node;         // in the store, of the scope of its last block; 0: there was none
  uintptr_t stack_low, stack_high, stack_barrier;   // see unwind/store/stack.h
} undead_thread_state;

extern __thread undead_thread_state undead_thread __attribute__((tls_model("initial-exec")));

// `undead_thread` of the thread whose thread pointer (fs base) is `thread_pointer`; readable while that thread lives.
undead_thread_state *undead_thread_of(uintptr_t thread_pointer);

#pragma GCC visibility pop
