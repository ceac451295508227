// What the files about roots share.
#pragma once
#include "platform/maps/maps.h"
#include "scan/blocks/arenas.h"
#include "scan/roots/roots.h"
#include "scan/roots/pages.h"
#include "world/intervals.h"
#include "world/world.h"

struct undead_root_search {
  undead_roots *roots;
  const undead_world *world;
  const undead_heap *heap;
  const undead_stale *stale;
  const undead_scan_options *options;
  undead_intervals excluded;
  undead_free_chunks free;
  bool knows_other;        // another allocator's memory has no roots but the blocks that are not recorded
  uintptr_t owned_until;   // end of the block or free chunk that was passed last
  undead_interval part;    // of the mapping that is being walked, without what is excluded
  undead_pages pages;
};

// Copies what can be read of a run of pages, as roots; false if that is not all.
bool undead_roots_push_copy(undead_roots *roots, undead_interval run);
void undead_root_add(undead_root_search *search, uintptr_t low, uintptr_t high, undead_root_kind kind, int32_t tid);

// Words that only the kernel keeps for the program: the data of epoll registrations, buffers that io_uring has and
// completions for which its ring had no room, what pipes and local sockets were given and nobody has read, the values of POSIX
// timers, those of signals that wait to be delivered.

// Lists them in room of `copies`; an empty interval if there are none, or they may not be read. `*unseen`: there may be
// others that the kernel does not tell. World stopped.
undead_interval undead_kernel_held_words(undead_copies *copies, const undead_world *world, bool *unseen);
