// Which memory of malloc's arenas is free. Told by glibc's own lists, each link of which is checked: what is not on one
// of them, and no recorded block, belongs to somebody who was never recorded.
#pragma once
#include "scan/blocks/heap.h"
#include "scan/graph.h"
#include "world/intervals.h"
#include "world/world.h"

typedef struct {
  uint64_t **bits;      // for each leaf of the address space a bit for each granule where a free chunk's memory starts
  char *pool;           // where the next leaf's bits come from
  uint32_t pool_left;   // leaves
  void *pools[64];      // all of them
  uint32_t pool_count;
  bool no_memory;
  uint32_t top_count;   // of arenas
  uintptr_t tops[64];   // the chunks at their ends, behind which there is none; any may be one if there are more
} undead_free_chunks;

// Learns where threads keep their caches of free chunks; on the scanning thread, with the world running.
void undead_arenas_learn(void);

// True if the arenas, or where threads keep their caches, were found.
bool undead_arenas_are_known(void);
bool undead_caches_are_known(void);

// With the world stopped: lists the free chunks. What malloc keeps its lists in goes to `excluded`. Where the lists do
// not look as expected nothing is listed, so that all of it counts as somebody's. What threads keep goes to
// `graph`, unless that is NULL. False without memory.
bool undead_free_chunks_open(undead_free_chunks *free, const undead_heap *heap, const undead_world *world,
                             undead_intervals *excluded, undead_graph *graph);
void undead_free_chunks_close(undead_free_chunks *free);

// The end of the free chunk whose memory starts at `address`, a multiple of 16; 0 if none does.
uintptr_t undead_free_chunk_end(const undead_free_chunks *free, uintptr_t address);

// True if free chunks start in the 4 KiB at `page`.
bool undead_free_chunks_in(const undead_free_chunks *free, uintptr_t page);
