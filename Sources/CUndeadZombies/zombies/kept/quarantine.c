#include "zombies/kept/quarantine.h"
#include "glibc/layout.h"
#include "platform/memory/own_data.h"
#include "record/allocator.h"
#include "runtime/abi.h"
#include "zombies/functions/functions.h"
#include "zombies/kept/guard_pages.h"
#include "zombies/kept/ring.h"
#include "zombies/kept/scribble.h"
#include "zombies/shared/state.h"
#include "zombies/shared/threads.h"
#include <errno.h>

enum { GRANULE = 16, NEAR = 8, FAR = 24 };

// What a dead object costs: its chunk of the allocator, the words of the registry for that, and its entry here.
static inline __attribute__((always_inline)) uint64_t cost_of(const undead_dead *dead) {
  uint64_t chunk = (dead->size + CHUNK_SIZE + 15) & ~15ull;
  if (dead->flags & UNDEAD_DEAD_IS_GUARDED) chunk = UNDEAD_GUARD_SLOT_BYTES;
  if (chunk < CHUNK_SMALLEST) chunk = CHUNK_SMALLEST;
  return chunk + chunk / GRANULE * sizeof(uint32_t) + sizeof *dead;
}

static inline __attribute__((always_inline)) undead_lane *own_lane(void) {
  uint32_t lanes = __atomic_load_n(&undead_ring.lanes, __ATOMIC_RELAXED);
  return &undead_lanes[undead_zombie_self.place & (lanes - 1)];
}

typedef enum { BEGIN_RUN, MAKE_ROOM, TAKE_OLDEST, REPAY, GIVE_BACK } request;

static bool do_in_ring(undead_lane *lane, request what) {
  switch (what) {
  case BEGIN_RUN: return undead_ring_begin_run(lane);
  case MAKE_ROOM: return undead_ring_grant(lane) || undead_ring_take_oldest(lane);
  case TAKE_OLDEST: return undead_ring_take_oldest(lane);
  case REPAY:
    undead_ring_settle(lane);
    if (!undead_ring_is_over(&lane->reason)) return false;
    return lane->going != lane->going_end || undead_ring_take_oldest(lane);
  case GIVE_BACK: undead_ring_give_back(lane);
  }
  return true;
}

// Called with the lane's lock. False as well if the ring's cannot be had.
static __attribute__((noinline)) bool ask_ring(undead_lane *lane, request what) {
  __atomic_store_n(&lane->waits, 1, __ATOMIC_RELEASE);
  bool taken = undead_lock_take(&undead_ring_lock);
  __atomic_store_n(&lane->waits, 0, __ATOMIC_RELEASE);
  if (!taken) return false;
  bool done = do_in_ring(lane, what);
  undead_lock_release(&undead_ring_lock);
  return done;
}

// Makes the object what it was, so that it can be freed.
static inline __attribute__((always_inline)) void restore(undead_lane *lane, const undead_dead *dead) {
  uint64_t *header = (uint64_t *)dead->object;
  if (dead->flags & UNDEAD_DEAD_REFCOUNT_REPLACED) {
    uint64_t refcount = __atomic_load_n(&header[1], __ATOMIC_RELAXED);
    bool retained = refcount >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK;
    if (retained && !(refcount >> 63)) lane->held_when_evicted++;
    header[1] = dead->refcount;
  }
  __atomic_store_n(&header[0], dead->class->original, __ATOMIC_RELEASE);
}

// Frees the next one of those that the lane has on their way, or puts it on the list: what nobody else refers to needs
// no runtime. False if there is none, or no room on the list.
static bool free_next(undead_lane *lane, undead_evicted *evicted) {
  uint64_t number = lane->going;
  if (number == lane->going_end) return false;
  undead_dead *dead = undead_entry(number);
  bool is_simple = dead->flags & (UNDEAD_DEAD_REFCOUNT_REPLACED | UNDEAD_DEAD_IS_FREED);
  if (!is_simple && evicted->count == UNDEAD_EVICTED_AT_ONCE) return false;
  // Those that come next are in no cache by now.
  if (number + FAR < undead_ring.next) {
    __builtin_prefetch((const void *)undead_entry(number + NEAR)->object, 1);
    __builtin_prefetch(undead_entry(number + FAR), 1);
  }
  uintptr_t object = dead->object;
  restore(lane, dead);
  lane->bytes += (int64_t)cost_of(dead);
  lane->count++;
  lane->evicted[lane->reason]++;
  bool is_guarded = dead->flags & UNDEAD_DEAD_IS_GUARDED;
  dead->flags |= UNDEAD_DEAD_IS_GONE;
  // Before it is freed: a forked child that finds the lane does not free it again.
  __atomic_store_n(&lane->going, number + 1, __ATOMIC_RELEASE);
  if (!is_simple) {
    evicted->list[evicted->count].object = object;
    evicted->list[evicted->count].size = dead->size;
    evicted->list[evicted->count++].align_mask = dead->align_mask;
  } else if (is_guarded) {
    undead_guard_free(object);
  } else if (evicted->outermost) {
    undead_allocator_give((void *)object);
  } else {
    undead_allocator_free((void *)object);
  }
  return true;
}

// The header as a dead object's is to be. Weak and unowned references ask the count. Without any it may look alive: a
// release inside of the runtime then comes to the stub that stands in place of the destructor.
static inline __attribute__((always_inline)) void note_refcount(undead_dead *dead) {
  uint64_t refcount = ((const uint64_t *)dead->object)[1];
  bool side_table = refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == ABI_REFCOUNT_SIDE_TABLE_TOP;
  uint64_t unowned = refcount >> ABI_REFCOUNT_UNOWNED_SHIFT & ABI_REFCOUNT_UNOWNED_MASK;
  dead->refcount = refcount;
  if (!side_table && unowned == 1) dead->flags |= UNDEAD_DEAD_REFCOUNT_REPLACED;
}

// Other threads see either the living or the dead class.
static inline __attribute__((always_inline)) void bury(const undead_dead *dead, uint64_t number) {
  uint64_t *header = (uint64_t *)dead->object;
  if (dead->flags & UNDEAD_DEAD_IS_SCRIBBLED) undead_scribble(dead->object, dead->size, number);
  if (dead->flags & UNDEAD_DEAD_REFCOUNT_REPLACED) header[1] = ABI_REFCOUNT_NEW;
  __atomic_store_n(&header[0], dead->class->zombie, __ATOMIC_RELEASE);
}

// Word by word, as they were written a moment ago: a wider copy would wait for all of them to arrive.
static void write_entry(volatile undead_dead *entry, const undead_dead *dead) {
  entry->object = dead->object;
  entry->class = dead->class;
  entry->refcount = dead->refcount;
  entry->death = dead->death;
  entry->size = dead->size;
  entry->align_mask = dead->align_mask;
  entry->allocation = dead->allocation;
  entry->deallocation = dead->deallocation;
  entry->thread = dead->thread;
  entry->flags = dead->flags;
}

// True if the oldest object has been kept for long enough: only asked where there is one lane.
static __attribute__((noinline)) bool is_too_old(undead_lane *lane, uint64_t time) {
  uint64_t number = lane->going, age = undead_ring.budget.age_milliseconds * 1000000;
  if (number != lane->going_end) return time - undead_entry(number)->death > age;
  if (!undead_lock_take(&undead_ring_lock)) return false;
  number = undead_ring.oldest;
  bool any = number < undead_ring.next && undead_ring_filled(number);
  bool is = any && time - undead_entry(number)->death > age;
  undead_lock_release(&undead_ring_lock);
  return is;
}

static undead_reason reason_of(const undead_lane *lane) {
  bool is_size = (int64_t)undead_ring.bytes - lane->bytes > (int64_t)undead_ring.budget.bytes;
  return is_size ? UNDEAD_FOR_BYTES : UNDEAD_FOR_COUNT;
}

static __attribute__((noinline)) void make_room_in_lane(undead_lane *lane, uint64_t time, undead_evicted *evicted) {
  while (lane->bytes < 0 || lane->count < 0) {
    lane->reason = reason_of(lane);
    if (!free_next(lane, evicted) && (evicted->count == UNDEAD_EVICTED_AT_ONCE || !ask_ring(lane, MAKE_ROOM))) break;
  }
  evicted->more = lane->bytes < 0 || lane->count < 0;
  while (undead_ring.budget.age_milliseconds && is_too_old(lane, time)) {
    if (lane->going == lane->going_end && !ask_ring(lane, TAKE_OLDEST)) break;
    lane->reason = UNDEAD_FOR_AGE;
    if (!free_next(lane, evicted)) break;
  }
}

// With the lane's lock. What was asked of the budget is given back if there is no place.
static bool find_place(undead_lane *lane, const undead_dead *dead, undead_evicted *evicted) {
  int64_t cost = (int64_t)cost_of(dead);
  if ((uint64_t)cost > undead_ring.budget.bytes || !undead_ring.budget.count) return false;
  lane->bytes -= cost;
  lane->count--;
  if (lane->bytes < 0 || lane->count < 0 || undead_ring.budget.age_milliseconds) make_room_in_lane(lane, dead->death, evicted);
  if (lane->next != lane->end || ask_ring(lane, BEGIN_RUN)) return true;
  lane->bytes += cost;
  lane->count++;
  return false;
}

bool undead_quarantine_add(undead_dead *dead, undead_evicted *evicted) {
  undead_lane *lane = own_lane();
  dead->death = undead_nanoseconds(CLOCK_MONOTONIC_COARSE);
  bool locked = undead_lock_take(&lane->lock), kept = false;
  if (locked) {
    lane->waits = 0;   // left by a signal handler
    kept = find_place(lane, dead, evicted);
    if (kept) {
      note_refcount(dead);
      undead_dead *entry = undead_entry(lane->next);
      write_entry(entry, dead);
      __builtin_prefetch(entry + NEAR, 1);
      lane->deaths++;
      uint64_t number = lane->next;
      __atomic_store_n(&lane->next, number + 1, __ATOMIC_RELEASE);
      bury(dead, number);
    }
    undead_lock_release(&lane->lock);
  }
  if (!kept) undead_count(&undead_zombie_counts.missed);
  return kept;
}

typedef enum { OVER, ALL_FOR_ROOM, ALL } extent;

// Frees what is over the budget, or all; as many at a time as fit on the list. False if there are no more.
static bool evict_some(extent extent, undead_evicted *evicted) {
  undead_lane *lane = own_lane();
  undead_hook_enter();
  bool any = false;
  if (undead_lock_take(&lane->lock)) {
    any = extent == OVER ? ask_ring(lane, REPAY) : lane->going != lane->going_end || ask_ring(lane, TAKE_OLDEST);
    if (extent != OVER) lane->reason = extent == ALL ? UNDEAD_FOR_END : UNDEAD_FOR_BYTES;
    any = any && free_next(lane, evicted);
    undead_lock_release(&lane->lock);
  }
  undead_hook_leave();
  return any;
}

static void give_back_all(void) {
  undead_hook_enter();
  for (uint32_t i = 0; i < UNDEAD_LANES; i++) {
    undead_lane *lane = &undead_lanes[i];
    if (!undead_lock_take(&lane->lock)) continue;
    ask_ring(lane, GIVE_BACK);
    undead_lock_release(&lane->lock);
  }
  undead_hook_leave();
}

static void free_list(const undead_evicted *evicted) {
  for (uint32_t i = 0; i < evicted->count; i++)
    UNDEAD_CALL_REAL_DEALLOC(UNDEAD_SWIFT_DEALLOC_OBJECT, (void *)evicted->list[i].object, evicted->list[i].size,
                             evicted->list[i].align_mask);
}

static void evict(extent extent) {
  for (;;) {
    undead_evicted evicted = {.count = 0};
    bool any = evict_some(extent, &evicted);
    free_list(&evicted);
    if (!any) return;
  }
}

void undead_quarantine_free(const undead_evicted *evicted) {
  if (__builtin_expect(!evicted->count && !evicted->more, 1)) return;
  free_list(evicted);
  // A large one may need the room of many, and what other lanes keep for themselves.
  if (!evicted->more) return;
  give_back_all();
  evict(OVER);
}

void undead_quarantine_set_budget(const undead_zombie_budget *wanted) {
  if (!undead_lock_take_in_hook(&undead_ring_lock)) return;
  undead_ring_set_budget(wanted);
  undead_lock_release_in_hook(&undead_ring_lock);
  give_back_all();
  evict(OVER);
}

void undead_quarantine_empty(void) {
  give_back_all();
  evict(ALL);
}

bool undead_quarantine_make_room(size_t size) {
  undead_zombie_counters kept;
  undead_quarantine_read_counters(&kept);
  if (kept.kept_bytes < size || !kept.kept) return false;
  int saved = errno;
  give_back_all();
  evict(ALL_FOR_ROOM);
  errno = saved;
  return true;
}

void undead_quarantine_read_counters(undead_zombie_counters *result) {
  uint64_t evicted[UNDEAD_REASONS] = {0};
  *result = (undead_zombie_counters){.kept_bytes = undead_ring.bytes};
  for (uint32_t i = 0; i < UNDEAD_LANES; i++) {
    const undead_lane *lane = &undead_lanes[i];
    result->deaths += lane->deaths;
    result->held_when_evicted += lane->held_when_evicted;
    result->kept_bytes -= (uint64_t)lane->bytes;
    for (int k = 0; k < UNDEAD_REASONS; k++) evicted[k] += lane->evicted[k];
  }
  result->evicted_for_bytes = evicted[UNDEAD_FOR_BYTES];
  result->evicted_for_count = evicted[UNDEAD_FOR_COUNT];
  result->evicted_for_age = evicted[UNDEAD_FOR_AGE];
  result->evicted_for_end = evicted[UNDEAD_FOR_END];
  result->kept = result->deaths - evicted[0] - evicted[1] - evicted[2] - evicted[3];
}

// The lanes first: their threads wait for the ring, and nobody who has the ring waits for a lane.
void undead_quarantine_before_fork(void) {
  for (uint32_t i = 0; i < UNDEAD_LANES; i++) undead_lock_before_fork(&undead_lanes[i].lock);
  undead_lock_before_fork(&undead_ring_lock);
}
void undead_quarantine_after_fork(void) {
  undead_lock_after_fork(&undead_ring_lock);
  for (uint32_t i = 0; i < UNDEAD_LANES; i++) undead_lock_after_fork(&undead_lanes[i].lock);
}
