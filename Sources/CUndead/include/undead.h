// The interface of the instrument: everything that Swift code, or C code outside of this target, may call.
// All functions are thread-safe, keep errno, and may be called whether or not the instrument is active.
#pragma once
#include "undead_version.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// UNDEAD_VERSION of the instrument, which another copy in the process may have been built with.
const char *undead_version(void);

// False if this platform has no instrument: then nothing is ever recorded, and every function does nothing.
bool undead_is_supported(void);

// True while allocations are recorded, so that snapshots are complete from that moment on.
bool undead_is_active(void);

// Why nothing is recorded, in one sentence for the user; "" while the instrument is active. Valid forever.
const char *undead_inactive_reason(void);

// Starts recording in a program that links Undead, unless it is active already. Blocks allocated before stay unknown:
// what they hold counts as alive, and snapshots say that they are not complete. UNDEAD=1 in the environment records from
// the first block on. Returns false if the instrument cannot work here: undead_inactive_reason() says why.
bool undead_start(void);

// The same, with the backtraces of a sample of the allocations only: one for so many bytes on average (UNDEAD_SAMPLE).
bool undead_start_sampled(uint64_t mean_bytes);

// Stops recording: blocks allocated from now on stay unknown. Does nothing if the instrument is not active.
void undead_stop(void);

// True in a process that was forked, without an exec, from the one that loaded this library: it has none of the other
// threads, and whatever they had locked stays locked.
bool undead_is_forked_copy(void);

// Finds the leaks of this process and writes them to the snapshot file `path` (replaced when complete, never left
// half written). The calling thread waits; the others stand still while the objects are marked. Returns true, or
// false with the reason as a sentence in `message` (`message_size` bytes with the terminating zero; may be NULL).
bool undead_snapshot_write(const char *path, char *message, size_t message_size);

// The same, to memory: sets `*bytes` and `*size`. The memory belongs to the caller until undead_snapshot_release.
bool undead_snapshot_copy(void **bytes, size_t *size, char *message, size_t message_size);

// Gives back what undead_snapshot_copy returned, with the same size. NULL is allowed.
void undead_snapshot_release(void *bytes, size_t size);

#ifdef __cplusplus
}
#endif
