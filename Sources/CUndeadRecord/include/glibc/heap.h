// The blocks of a program that was not recorded, from glibc's own tables (Documentation/glibc-arenas.md). Only where nothing
// runs: in a replica. Whatever does not fit exactly is an error, since a block too many or too few makes false leaks.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef enum {
  UNDEAD_GLIBC_OK,
  UNDEAD_GLIBC_UNKNOWN,     // not laid out like any glibc that is known
  UNDEAD_GLIBC_LOCKED,      // somebody is at work in an arena, and something does not agree
  UNDEAD_GLIBC_UNSETTLED,   // known, but something does not agree: damaged, or somebody is at work without a lock
  UNDEAD_GLIBC_NO_MEMORY,
} undead_glibc_result;

typedef struct {
  uintptr_t low, high;
  uintptr_t chunk;    // the one that has this mapping for itself; 0 if there is none
  uintptr_t top;      // the arena's, if it lies here: what was never handed out, or came back to its end; 0 otherwise
  bool chunks;        // all of it are chunks of an arena, up to the top or a fence
} undead_glibc_area;

typedef struct {
  // What is known of the process.
  const uintptr_t *threads;          // their thread pointers
  const uintptr_t *stack_pointers;   // and theirs, in the same order
  uint32_t thread_count;
  undead_glibc_area data;            // libc's writable data
  size_t storage_near, storage_far;  // places of libc's thread-local storage (platform/processor/thread_storage.h)
  bool ended;                        // the program never goes on: arenas that are locked are read as they are, too
  // Called before and after chunks are walked that lie from `low` to `high`, if these are many; NULL: nobody is.
  void (*before_walk)(uintptr_t low, uintptr_t high), (*after_walk)(void);
  // What was found.
  undead_glibc_area *areas;          // memory that is malloc's: blocks, free chunks, tables
  uint32_t area_count, area_capacity;
  uint32_t main_areas;               // the first ones, of the main arena
  uintptr_t *kept;                   // blocks that threads keep for themselves: free, but in use for their neighbours
  uint32_t kept_count, kept_capacity;
  bool locked;                       // an arena was
  bool without_fast_bins;            // glibc 2.43 or newer
  uintptr_t walked;                  // the chunk that is being looked at
  uint32_t arenas, heaps, mapped, caches;
  uint64_t blocks, free_chunks, cached;
  char message[400];                 // what does not fit
} undead_glibc_heap;

typedef struct {
  uintptr_t main_bins;   // place of the first bin of the main arena
  uintptr_t head;        // from the start of each arena to its bins; 0: they form no ring at this moment
} undead_glibc_ring;

// Looks in libc's data; false if there is no ring, and then perhaps no main arena (`main_bins` 0). The memory map must be known.
bool undead_glibc_find_ring(undead_glibc_area data, undead_glibc_ring *ring);
// True if the struct of an arena is at `start`.
bool undead_glibc_is_arena(uintptr_t start, uintptr_t head);

// Fills the registry with all blocks that are in use. The memory map must be known (undead_maps_refresh).
undead_glibc_result undead_glibc_find(undead_glibc_heap *heap);

// How large the heaps of an arena are at most, and what they begin at multiples of; 0 if it does not lie in one.
uintptr_t undead_glibc_greatest_heap(uintptr_t start, uintptr_t top);

// After a crash in it.
void undead_glibc_start_again(undead_glibc_heap *heap);

// What the last call found, NULL if there was none.
const undead_glibc_heap *undead_glibc_found(void);

#pragma GCC visibility pop
