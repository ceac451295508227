// The asynchronous callers of the code that allocates. They are not on the stack: when an asynchronous function waits,
// its frame is left, and what it called runs from the executor. Their contexts, one in each frame, form a list.
#pragma once
#include "unwind/walk_x86_64.h"
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// True in test programs: there the callers tell which test an allocation belongs to.
extern bool undead_async_wanted;

// Begins to look for callers, if the program has Swift's concurrency library. With one thread, before main.
void undead_async_begin(void);

// The id of the same backtrace with the callers of the innermost asynchronous function from that frame on. For hooks; never
// fails (the id stays as it is). Right after the capture, in single values: a copy of a frame that was just written waits for it.
uint32_t undead_async_tag(uint32_t backtrace, uintptr_t pc, uintptr_t sp, uintptr_t bp);

// Puts the callers in a backtrace behind the asynchronous function that they called, and takes their mark off.
void undead_async_arrange(uint32_t *indices, uint32_t count);

#pragma GCC visibility pop
