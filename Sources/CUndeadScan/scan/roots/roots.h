// Where a live reference can lie outside of the recorded blocks: all memory that the program has touched, but for
// malloc's free chunks and lists, what is the instrument's, constants and the dead parts of stacks.
#pragma once
#include "scan/blocks/heap.h"
#include "scan/scan.h"
#include "world/intervals.h"
#include "world/world.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Copies of memory that the scan cannot read where it lies: the program may not read it itself at the moment, or a
// forked copy of the program does not have it, or shares it with the program that runs on.

typedef struct undead_copy_part undead_copy_part;

typedef struct {
  long memory;               // descriptor of /proc/self/mem, negative if there is none
  undead_copy_part *parts;   // all memory of the copies
  size_t bytes;              // copied so far
  bool opened, no_memory;
} undead_copies;

// Room beside the copies, 0 without memory.
uintptr_t undead_copies_room(undead_copies *copies, size_t bytes);

// Closes the descriptor: in the helper, whose table of descriptors is not the program's.
void undead_copies_end(undead_copies *copies);
void undead_copies_close(undead_copies *copies);

// Copies what can be read of memory between two multiples of the page size; the address of the copy, 0 if nothing could be
// read or there is no memory. `*size`: how much of it, from the start.
uintptr_t undead_copies_take(undead_copies *copies, uintptr_t low, uintptr_t high, size_t *size);

typedef struct {
  uintptr_t low, high;
  uintptr_t shift;     // of a copy: to be added to an address in it for the one in the program
  int32_t tid;
  uint8_t kind;        // undead_root_kind
  bool weak;           // may hold what is no longer in use: alone it keeps nothing alive that the counts explain
  bool doubtful;       // likewise, but not certainly: it keeps alive what it names (scan/counts/counts.h)
} undead_root;

typedef struct {
  undead_root *roots;
  uint32_t count, capacity;
  bool overflow;
  undead_copies copies;
  bool only_in_place;  // a forked copy would lack recorded blocks or stacks, or too much else
  bool caller_waits_in_task;   // the thread that asked stands in a call of an asynchronous function, with nothing of the runtime between
  bool unseen;         // the kernel may hold words for the program that it does not tell
} undead_roots;

// False without memory, as all of these.
bool undead_roots_open(undead_roots *roots);
// With the world stopped, in the program, before its memory is copied (gather.c): copies what a forked copy does not
// have or shares with the program that runs on. Needs a fresh memory map, with inheritance noted; marks the mappings
// that were taken.
bool undead_roots_gather(undead_roots *roots, const undead_world *world);
// With the world stopped: what the kernel holds for the program.
bool undead_roots_add_held(undead_roots *roots, const undead_world *world);
typedef struct undead_stale undead_stale;
typedef struct undead_root_search undead_root_search;
// Adds the parts of the roots that belong to threads, and leaves out stacks of those that have ended.
typedef void undead_roots_of_stacks(undead_root_search *search);

// All others: with the world stopped, or in a forked copy of it in which taken mappings are hidden. Registers become
// ranges of the world's own tables.
bool undead_roots_find(undead_roots *roots, const undead_world *world, const undead_heap *heap,
                       const undead_stale *stale, const undead_scan_options *options, undead_roots_of_stacks *add_stacks);
void undead_roots_close(undead_roots *roots);

// Global variables of the program, and their parts, that are numbers. Their words are weak evidence, as those of fields are.

// With the world running, on the scan's thread: looked for again only if other libraries are loaded. Empty without memory, or for
// a stripped program. Stays valid until the next call.
void undead_numbers_refresh(undead_intervals *numbers);
// Makes roots of their own of these variables.
void undead_numbers_mark(undead_roots *roots, const undead_intervals *numbers);
