// Backtraces: capture on the hot path, and the store that shares common outer frames.
#pragma once
#include <stdint.h>

// Captures the caller's stack from the given state (return address, stack pointer after the return, frame pointer)
// and returns its id in the store, or UNDEAD_BACKTRACE_NONE if backtraces are off or the store is full (counted).
uint32_t undead_backtrace_capture(uintptr_t pc, uintptr_t sp, uintptr_t bp);

// Writes the return addresses of a stored backtrace, innermost first; returns how many (at most `max`). Safe while
// the world is stopped and from any process that shares or copied the memory.
uint32_t undead_backtrace_frames(uint32_t id, uintptr_t *frames, uint32_t max);

// Captures the calling thread's stack with libunwind (single, exact backtraces; not for the hot path).
uint32_t undead_backtrace_libunwind(uintptr_t *frames, uint32_t max);

// Upper bound of ids in use, distinct stored backtraces that were dropped because the store was full, bytes used.
uint32_t undead_backtrace_count(void);
uint64_t undead_backtrace_dropped(void);
uint64_t undead_backtrace_bytes(void);
