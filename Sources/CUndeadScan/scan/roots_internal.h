// What roots.c and stacks.c share.
#pragma once
#include "platform/maps.h"
#include "world/intervals.h"
#include "scan/arenas.h"
#include "scan/roots.h"

typedef struct {
  undead_roots *roots;
  const undead_world *world;
  const undead_heap *heap;
  const undead_stale *stale;
  const undead_scan_options *options;
  undead_intervals excluded;
  undead_free_chunks free;
  uintptr_t owned_until;   // end of the block or free chunk that was passed last
  long pagemap;            // descriptor of /proc/self/pagemap, negative if there is none
  uint64_t *pages;         // a piece of it
  undead_interval part;    // of the mapping that is being walked, without what is excluded
} undead_root_search;

void undead_root_add(undead_root_search *search, uintptr_t low, uintptr_t high, undead_root_kind kind, int32_t tid);
void undead_roots_add_threads(undead_root_search *search);
// Looks in one page of a mapping that follows a guard for the descriptor of an ended thread.
void undead_roots_exclude_dead_stack(undead_root_search *search, const undead_mapping *mapping, uintptr_t page);
