// The shortest retain path from a root to each of some blocks.
#pragma once
#include "scan/blocks/worklist.h"
#include "scan/roots/roots.h"
#include "scan/view/collect.h"

typedef struct {
  uintptr_t from;      // block whose word refers to the next block of the path
  uint32_t offset;
} undead_step_place;

typedef struct {
  uintptr_t *targets;            // starts of live blocks, ascending and distinct
  uint32_t target_count;
  uint32_t *path_of;             // for each target: index of its path, UINT32_MAX if there is none
  uintptr_t *first_block;        // for each path: the block that the root holds
  undead_step_place *places;     // for each step of the result, until the edges are known
  undead_worklist outlived;      // blocks of sets with a target that should be gone, which nobody else owns (scan/counts/counts.h)
  undead_worklist cycles;        // blocks of cycles of targets that somebody owns as well
} undead_pathfinder;

// `targets` are copied, sorted and made distinct. False without memory.
bool undead_paths_open(undead_pathfinder *finder, const undead_storage *storage, const uintptr_t *targets, uint32_t count);
void undead_paths_close(undead_pathfinder *finder, const undead_storage *storage);

// Searches breadth first among the `live` marked blocks, from the roots and from the items of run loops; adds the paths,
// and their nodes as LIVE. Uses the scan bits but the mark. False without memory.
bool undead_paths_find(undead_pathfinder *finder, undead_storage *storage, undead_bodies *bodies,
                       const undead_roots *roots, const undead_scan_options *options, uint64_t live);

// When nodes and edges are in order: fills the indices in paths and steps. False without memory.
bool undead_paths_settle(const undead_pathfinder *finder, undead_storage *storage);
// Index of the path to `block`, UINT32_MAX if there is none.
uint32_t undead_path_to(const undead_pathfinder *finder, uintptr_t block);

// How many references there are to reported objects, and whose they are.

// When the paths are known: fills in `strong`, `counted` and `shared` of those that start at a thread's word. Lists the `told`
// blocks with their counts, and some of those who hold them. Uses the scan bits but the mark. False without memory.
bool undead_owners_count(const undead_pathfinder *finder, undead_storage *storage, undead_bodies *bodies,
                         const undead_roots *roots, const uintptr_t *told, uint32_t told_count);
