// Where the threads' unwind caches come from, and go to when a thread ends.
#pragma once
#include "platform/memory/thread_state.h"
#include "unwind/capture/capture_x86_64.h"

#pragma GCC visibility push(hidden)

// A cache for a moment, of which only the scratch is used; NULL if there is no memory. Lock-free.
undead_unwind_cache *undead_cache_borrow(void);
void undead_cache_return(undead_unwind_cache *cache);

// The calling thread's own cache, given back when the thread ends; NULL if it cannot have one.
undead_unwind_cache *undead_cache_of_thread(undead_thread_state *thread);

// The calling thread's own cache was left in the middle of a capture, which may yet go on (on a stack that is switched
// out): it gets another one. What it borrowed is given back.
void undead_cache_abandoned(undead_thread_state *thread);

// In the child of a fork: only the calling thread's cache is still in use.
void undead_cache_pool_after_fork_in_child(undead_unwind_cache *own);

// Makes all caches empty ones. Not while anybody captures.
void undead_cache_pool_clear(void);

// Room for what needs more stack than a program may have left: threads and fibers with stacks of a few KiB, alternate
// signal stacks. Measured: a malloc needs 0.2 KiB, our hooks 0.7 KiB, but a new return address 1.5 to 4 KiB.

// Runs `work(context)` on the calling stack if that is the thread's own one and has room, else on that of `cache`,
// which is the caller's and in no other use.
void undead_run_with_cache(undead_unwind_cache *cache, void (*work)(void *), void *context);

// What a call on another stack returns to: its frame is lower or higher than the one before.
extern const char undead_room_return[];

#pragma GCC visibility pop
