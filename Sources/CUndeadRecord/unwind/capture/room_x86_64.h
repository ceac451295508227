// Room for what needs more stack than a program may have left: threads and fibers with stacks of a few KiB, alternate
// signal stacks. Measured: a malloc needs 0.2 KiB, our hooks 0.7 KiB, but a new return address 1.5 to 4 KiB, and
// libunwind 5 KiB.
#pragma once
#include "unwind/capture/capture_x86_64.h"

#pragma GCC visibility push(hidden)

// Runs `work(context)` on the calling stack if that is the thread's own one and has room, else on that of `cache`,
// which is the caller's and in no other use.
void undead_run_with_cache(undead_unwind_cache *cache, void (*work)(void *), void *context);

// What a call on another stack returns to: its frame is lower or higher than the one before.
extern const char undead_room_return[];

#pragma GCC visibility pop
