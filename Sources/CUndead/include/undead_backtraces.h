// Backtraces for the layers above: where a live block was allocated, and where the caller is.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes the return addresses of the allocation of the live block at `block`, innermost first, at most `max`. Returns
// how many; 0 if nothing was recorded. The caller keeps the block alive meanwhile.
uint32_t undead_allocation_backtrace(const void *block, uintptr_t *frames, uint32_t max);

// Writes the return addresses of the caller, innermost first, at most `max`: full and exact, in less than a microsecond
// once the stack is known. Returns how many; 0 while no backtraces are recorded.
uint32_t undead_caller_backtrace(uintptr_t *frames, uint32_t max);

// The same for another thread of this process, at this moment: the thread stands still for some microseconds, and its
// system calls go on as if nothing had happened. Returns 0 as well if tracing is denied, or while a check is under way.
uint32_t undead_thread_backtrace(int32_t tid, uintptr_t *frames, uint32_t max);

#ifdef __cplusplus
}
#endif
