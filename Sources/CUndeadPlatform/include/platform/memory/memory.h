// Memory of the instrument itself: only mmap, never malloc.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_MADV_POPULATE_WRITE 23   // of Linux 5.14; newer than the C library's headers may be

void *undead_map(size_t bytes);                  // zeroed, NULL if there is none; not committed until touched
void *undead_map_shared(size_t bytes);           // the same, shared with forked copies
void *undead_map_unused(size_t bytes);           // only addresses, which may not be touched (see reserve.h)
const void *undead_map_file(int descriptor, size_t bytes);   // to be read; NULL if it cannot be
// Pages of a mapped file that were read count as memory of the process: these do no longer, and come back when asked for.
void undead_let_go_of_file(const void *from, const void *to);
bool undead_reserve_at(void *address, size_t bytes);   // likewise, at this place; false if something is there
// Makes whole pages of own memory zero, and gives them back to the system.
void undead_clear_memory(void *address, size_t bytes);

void undead_unmap(void *address, size_t bytes);
// Moves `bytes` bytes (none: `old` may be NULL) to larger memory; NULL if there is none, and then the old stays.
void *undead_map_larger(void *old, size_t bytes, size_t larger_bytes);
// Makes an array of own memory twice as long, or `first` entries if it had none; false without memory, and then it stays.
#define undead_grow(entries, capacity, first)                                                                               \
  ({                                                                                                                        \
    __typeof__(capacity) undead_more = (capacity) ? (capacity) * 2 : (first);                                               \
    void *undead_larger = undead_map_larger(entries, (capacity) * sizeof *(entries), undead_more * sizeof *(entries));      \
    if (undead_larger) (entries) = undead_larger, (capacity) = undead_more;                                                 \
    undead_larger != NULL;                                                                                                  \
  })
// Keeps the first `kept` of `bytes` bytes that were mapped at once.
void undead_unmap_tail(void *address, size_t bytes, size_t kept);

// How much was obtained here: addresses, and writable memory of this process alone (what RLIMIT_DATA counts).
typedef struct {
  size_t addresses, data;
} undead_own_sizes;

undead_own_sizes undead_own_memory_sizes(void);
void undead_count_data(size_t bytes);   // what was only reserved has become usable

// Called before so many bytes more are used, so that limits of the process can make room. NULL: nobody is.
typedef void (*undead_before_map_function)(size_t bytes);
extern undead_before_map_function volatile undead_before_map;
void undead_make_room(size_t bytes);

// The program has all memory that is mapped from now on locked (mlockall): ours is not to be.
extern volatile bool undead_memory_is_locked;

// True if `address` lies in memory obtained here: the scan must not take it for a root.
int undead_owns_memory(uintptr_t address);

// Adds memory that was not obtained here (large static tables) to what undead_owns_memory knows.
bool undead_own_memory(const void *address, size_t bytes);

// The `index`-th owned range, from 0; false behind the last one. A range of length 0 was given back.
bool undead_owned_range(size_t index, uintptr_t *low, uintptr_t *high);

// Copies memory that may change or vanish meanwhile; false if it could not be read. Keeps errno.
bool undead_copy_memory(uintptr_t address, void *copy, size_t size);

// True if the page of `address` can be read. Asks the kernel (about 100 ns); async-signal-safe, keeps errno.
bool undead_page_is_readable(uintptr_t address);
// The same for all of a range, which is not at address 0.
bool undead_pages_are_readable(uintptr_t address, size_t size);
// The same for the two pages that meet at `border`, in one question.
bool undead_border_is_readable(uintptr_t border);
// What the kernel is asked to do with a signal mask, and does not know.
#define UNDEAD_NO_SIGNAL_CHANGE 0x5bd1e995

#pragma GCC visibility pop
