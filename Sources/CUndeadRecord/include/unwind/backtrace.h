// Backtraces: capture on the hot path, and the store that shares common outer frames.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// The id of a block that is known without a backtrace.
#define UNDEAD_BACKTRACE_NONE 1u

// Captures the caller's stack from the given state (return address, stack pointer after the return, frame pointer)
// and returns its id in the store, or undead_backtrace_none if the store is full (counted).
uint32_t undead_backtrace_capture(uintptr_t pc, uintptr_t sp, uintptr_t bp);

// Walks the caller's stack likewise, and calls `use` with the indices of its return addresses, innermost first. Nothing is
// stored, and no cache is made for the thread. False if there was no memory.
typedef void (*undead_walked_function)(void *context, const uint32_t *indices, uint32_t count);
bool undead_backtrace_walk(uintptr_t pc, uintptr_t sp, uintptr_t bp, undead_walked_function use, void *context);

// The id of a backtrace that was walked; undead_backtrace_none if it cannot be stored.
uint32_t undead_backtrace_keep(const uint32_t *indices, uint32_t count);

// A number that only backtraces with the same three innermost frames have, 0 if there is none for this one.
uint32_t undead_backtrace_run(uint32_t id);

// Writes the return addresses of a stored backtrace, innermost first; returns how many (at most `max`). Safe while
// the world is stopped and from any process that shares or copied the memory.
uint32_t undead_backtrace_frames(uint32_t id, uintptr_t *frames, uint32_t max);
// The id of the same frames in no scope (record/scopes.h).
uint32_t undead_backtrace_unscoped(uint32_t id);
// Changes when an id may stand for other frames than before: images went, or everything was forgotten.
uint32_t undead_backtrace_epoch(void);
// Asks the processor for what a reader of the backtrace needs first.
void undead_backtrace_prefetch(uint32_t id);

// Captures the calling thread's stack with libunwind (single, exact backtraces; not for the hot path).
uint32_t undead_backtrace_libunwind(uintptr_t *frames, uint32_t max);

// Upper bound of ids in use, distinct stored backtraces that were dropped because the store was full, bytes used.
uint32_t undead_backtrace_count(void);
uint64_t undead_backtrace_dropped(void);
uint64_t undead_backtrace_bytes(void);

// Loads libunwind privately (dlopen, so that its _Unwind_* never stand before libgcc's); true if it is there. Call it
// outside of hooks, after the constructors. Until then frames that need it end a backtrace.
bool undead_backtrace_load_libunwind(void);

// Forgets unwind rules because images may have been unloaded. Any thread.
void undead_backtrace_forget_images(void);

// A generation has begun (record/generations.h): captures that begin from now on belong to it. Any thread.
void undead_backtrace_forget_runs(void);

// The calling thread has left a capture in the middle, for good.
void undead_backtrace_abandoned(void);

// In the child of a fork: frees the caches of threads that are gone, and stops using libunwind, whose locks one of
// them may have held.
void undead_backtrace_after_fork_in_child(void);

#pragma GCC visibility pop
