// Dead objects in the order of their deaths. The oldest go for good when the budget is spent.
#pragma once
#include "undead_sniffer.h"
#include "zombies/shared/lock.h"
#include "zombies/classes/zombie_class.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// One dead object. 64 bytes: one line of the cache.
typedef struct {
  uintptr_t object;
  const undead_zombie_class *class;
  uint64_t refcount;              // as it was at the death, if `refcount_replaced`
  uint64_t death;                 // nanoseconds, CLOCK_MONOTONIC_COARSE
  uint64_t size;                  // of the instance
  uint32_t align_mask;
  uint32_t allocation, deallocation;   // backtraces
  uint32_t thread;                // place in the table of threads
  uint32_t flags;
  uint32_t unused;
} undead_dead;
_Static_assert(sizeof(undead_dead) == 64, "one line of the cache");

enum {
  UNDEAD_DEAD_REFCOUNT_REPLACED = 1,
  UNDEAD_DEAD_IS_GUARDED = 2,     // on guard pages
  UNDEAD_DEAD_IS_SCRIBBLED = 4,
  UNDEAD_DEAD_IS_FREED = 8,       // the runtime has done its part: only the memory is left
  UNDEAD_DEAD_IS_GONE = 16,       // has left the quarantine
};

void undead_quarantine_set_budget(const undead_zombie_budget *budget);

// What has to go through the runtime for good when another object came: somebody refers to it.
enum { UNDEAD_EVICTED_AT_ONCE = 4 };
typedef struct {
  uint32_t count;
  bool more;        // than fit here
  bool outermost;   // set by the caller: it is in a hook that interrupted no other one
  struct {
    uintptr_t object;
    uint64_t size, align_mask;
  } list[UNDEAD_EVICTED_AT_ONCE];
} undead_evicted;

// Takes an object, of which its refcount and the time are found here. Its header and body are changed. False if it
// cannot be kept: nothing is changed then. Called inside of a hook; `evicted` is to be freed outside of it.
bool undead_quarantine_add(undead_dead *dead, undead_evicted *evicted);

// Frees what had to make room.
void undead_quarantine_free(const undead_evicted *evicted);

// Frees everything.
void undead_quarantine_empty(void);
// The same where the program gets no memory (record/free_filter.h); false if less than `size` bytes are kept.
bool undead_quarantine_make_room(size_t size);

// Copies what is known of a dead object. False if it is not in the quarantine. Async-signal-safe; at most some
// milliseconds.
bool undead_quarantine_find(uintptr_t object, undead_dead *dead);
// The object whose scribble `word` is, or is near to, and the offset that it stood at. Async-signal-safe.
bool undead_quarantine_find_scribble(uint64_t word, undead_dead *dead, uint32_t *offset);

// An object that has left the quarantine not long ago: what is remembered of the last one at this address.
bool undead_quarantine_find_gone(uintptr_t object, undead_dead *dead);
// The object of this type that died last.
bool undead_quarantine_find_newest(const undead_zombie_class *class, undead_dead *dead);

void undead_quarantine_read_counters(undead_zombie_counters *counters);

void undead_quarantine_before_fork(void);
void undead_quarantine_after_fork(void);

#pragma GCC visibility pop
