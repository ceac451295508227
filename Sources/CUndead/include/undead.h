// The interface of the instrument: everything that Swift code, or C code outside of this target, may call.
// All functions are thread-safe, keep errno, and may be called whether or not the instrument is active.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNDEAD_VERSION "0.1.0"

// Version of the instrument, such as "0.1.0".
const char *undead_version(void);

// True while allocations are recorded, so that snapshots are complete from that moment on.
bool undead_is_active(void);

// Why nothing is recorded, in one sentence for the user; "" while the instrument is active. Valid forever.
const char *undead_inactive_reason(void);

// Starts recording in a program that links Undead, unless it is active already. Blocks allocated before stay unknown,
// so what only they hold looks like a leak, and snapshots say that they are not complete: UNDEAD=1 in the environment
// records from the first block on. Returns false if the instrument cannot work here: undead_inactive_reason() says why.
bool undead_start(void);

// Stops recording: blocks allocated from now on stay unknown. Does nothing if the instrument is not active.
void undead_stop(void);

// True in a process that was forked, without an exec, from the one that loaded this library: it has none of the other
// threads, and whatever they had locked stays locked.
bool undead_is_forked_copy(void);

// What the instrument holds at this moment. Counts of blocks and bytes are those of the program, not of Undead.
typedef struct {
  uint64_t backtraces;          // bound of the ids in the backtrace store: its words of 4 bytes in use
  uint64_t backtrace_bytes;     // memory of that store
  uint64_t dropped_backtraces;  // backtraces that did not fit in
  uint32_t snapshots;           // snapshots completed in this process
  uint32_t failed_snapshots;    // snapshots that were begun and could not be completed
} undead_statistics;

// Fills in `statistics`.
void undead_read_statistics(undead_statistics *statistics);

// Finds the leaks of this process and writes them to the snapshot file `path` (replaced when complete, never left
// half written). The calling thread waits; the others stand still while the objects are marked. Returns true, or
// false with the reason as a sentence in `message` (`message_size` bytes with the terminating zero; may be NULL).
bool undead_snapshot_write(const char *path, char *message, size_t message_size);

// The same, to memory: sets `*bytes` and `*size`. The memory belongs to the caller until undead_snapshot_release.
bool undead_snapshot_copy(void **bytes, size_t *size, char *message, size_t message_size);

// Gives back what undead_snapshot_copy returned, with the same size. NULL is allowed.
void undead_snapshot_release(void *bytes, size_t size);

// For tests. No stable interface.

// Names the object at `object`, a block of malloc that nobody changes meanwhile, as if a scan had found it leaked:
// its name, a line "skip" with the offsets of its weak and unowned words, then a line for each word that leads to a
// Swift object: offset, label, declared type, ownership, "function" if a closure's code is known, name of the target,
// with tabs between. Returns the length of the text. Not thread-safe.
size_t undead_test_describe(const void *object, char *text, size_t text_size);
// The kind of object (undead_kind) that starts with `word`, 0 if none does. Not thread-safe.
uint32_t undead_test_kind(uintptr_t word, size_t size);
// Category (undead_category) and whether it is of the program, of the object at `object`. Not thread-safe.
uint32_t undead_test_category(const void *object, bool *user_type);
// The async frames of the task at `task`, as return addresses, innermost first. Returns their number.
uint32_t undead_test_task_frames(const void *task, uintptr_t *frames, uint32_t max);
// The symbol that contains `address`, in `text`; returns its address, 0 if it is not known. Not thread-safe.
uintptr_t undead_test_symbol_at(uintptr_t address, char *text, size_t text_size);
// The address of a symbol, exported or not, of the first image whose file name starts with `image`. Not thread-safe.
uintptr_t undead_test_symbol(const char *image, const char *name);
// True if the image that holds `address` counts as part of the toolchain or the system. Not thread-safe.
bool undead_test_is_toolchain(uintptr_t address);
// What is known of the words of the object at `object` from the third one on, a letter for each: "r" raw, "c" counted,
// "n" number, "-" nothing. Returns their number. Not thread-safe.
size_t undead_test_evidence(const void *object, char *text, size_t text_size);

// What a scan of this process found, without names.
typedef struct {
  uint32_t leaked, raw, support, edges, paths;
  uint32_t suspects_of_kind[5];    // by undead_suspect_kind
  uint32_t suspects_with_path;
  uint32_t stop_method, error;     // undead_stop_method, undead_scan_error
  uint64_t live_blocks, pause_nanoseconds, scan_nanoseconds;
  char message[200];
} undead_test_scan_counts;
// Scans from a thread of its own: in place or in a copy, with suspects or without; `watched` may be an object whose
// retain path is wanted. One call at a time.
void undead_test_scan(bool copy, bool suspects, const void *watched, undead_test_scan_counts *counts);

#ifdef __cplusplus
}
#endif
