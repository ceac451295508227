// The pool of blocks that were chosen: slots with one block each, between pages that nobody may touch. Blocks are chosen at random,
// or as storage. There are slots of one page, of 64 KiB and of 1 MiB, the fewer the larger they are.
//
//   ... | no access |      header, block | no access |      header, block | ...
//
// A block ends where its slot ends. When it dies, its pages are taken away until the first use of it, or the next block there. In
// front of raw memory of whole pages, while nothing is recorded, the page of the header is closed as well: only hooks and
// malloc_usable_size() read that, for which a fault opens it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { UNDEAD_FENCED_MOST = 1 << 20 };   // bytes of a block
enum { UNDEAD_FENCED_FRAMES = 48, UNDEAD_FENCED_STORAGE_DEAD = 1024, UNDEAD_FENCED_STORAGE_SLOTS = 4096 };

// A backtrace as indices of return addresses, innermost first.
typedef struct {
  uint32_t count, indices[UNDEAD_FENCED_FRAMES];
} undead_fenced_frames;

// Who ran, as far as it shows an order: the kernel's id of the thread, the Swift task and the executor (NULL: none).
typedef struct {
  int32_t thread;
  uint32_t place;      // zombies/shared/threads.h
  const void *task, *executor;
} undead_fenced_actor;

typedef enum { UNDEAD_FENCED_FREE, UNDEAD_FENCED_LIVE, UNDEAD_FENCED_DEAD, UNDEAD_FENCED_USED } undead_fenced_state;

// What is known of a block of the pool.
typedef struct {
  uintptr_t low, fence;        // its pages, and the one behind it; 0: never used
  uintptr_t block;
  uintptr_t front;             // the closed page in front of it; 0: there is none, or it was touched
  void *twin;                  // of a living block: what glibc's malloc gave in its place, which nobody uses; NULL: nothing
  size_t size;
  uintptr_t isa;               // of an object; 0: not known, or raw memory
  const struct undead_zombie_class *error;   // of a dead box of an error; NULL: it is none
  uint32_t state;              // undead_fenced_state; USED: dead, used since, and open again
  bool fence_open;             // the page behind it was touched
  uint64_t death;              // nanoseconds, CLOCK_MONOTONIC_COARSE
  undead_fenced_actor killer;
  undead_fenced_frames allocation, deallocation;
} undead_fenced_slot;

typedef struct {
  uint64_t chosen, dead_now, full;   // `full`: not chosen for lack of a slot or of memory
} undead_fenced_counters;

// Makes a pool, once, with pages for so many dead blocks of at most a page, and more for those that live: at least so many slots in
// all, or (0) many times as many. False without memory.
bool undead_fenced_prepare(uint32_t dead, uint32_t slots);
// Counts a block that gets no page.
void undead_fenced_refuse(void);
// How full the pool is of living blocks, in quarters.
uint32_t undead_fenced_quarters(void);
// Memory for a block of the pool, which keeps `twin` from now on; NULL (counted) if it is too large, or there is no slot.
void *undead_fenced_allocate(size_t size, size_t alignment, uintptr_t isa, const undead_fenced_frames *allocation, void *twin);
typedef struct {
  uintptr_t isa;               // if it was not known as an object; 0: it is none
  const struct undead_zombie_class *error;
  undead_fenced_actor killer;
  undead_fenced_frames frames;
} undead_fenced_death;
// The block dies, and its page is taken away. Returns its twin, which the caller frees; NULL also if it is dead already.
void *undead_fenced_bury(uintptr_t block, const undead_fenced_death *death);
// The same where nobody looks for zombies any more.
void *undead_fenced_release(uintptr_t block);

// A copy of what is known of a living block; false for others.
bool undead_fenced_find(uintptr_t block, undead_fenced_slot *copy);

// Calls `see` for each living block and its twin (0: none), without the lock: in a copy of a process, where all headers can be read
// from then on.
void undead_fenced_each(void (*see)(uintptr_t block, uintptr_t twin));

// True if `address` lies in the pool.
bool undead_fenced_holds(uintptr_t address);
// What an access to `address` met. True, with a copy of what is known of it, if it touched a page that is closed and that belongs
// to a block. `*fence`: it is the page behind the block or in front of it; `*open`: it can be used from now on. Else that says
// whether it is open, at one instant with all else that is known: who closes a page has the lock. Async-signal-safe.
bool undead_fenced_touched(uintptr_t address, undead_fenced_slot *slot, bool *fence, bool *open);
// Opens the pages of all dead blocks: nothing is asked of the system for them any more.
void undead_fenced_open_all(void);
// Takes that page away again: the program is to end at the access.
void undead_fenced_close(uintptr_t address);
// True if the page of `address` is open.
bool undead_fenced_is_open(uintptr_t address);

void undead_fenced_read_counters(undead_fenced_counters *counters);
void undead_fenced_before_fork(void);
void undead_fenced_after_fork(void);

#pragma GCC visibility pop
