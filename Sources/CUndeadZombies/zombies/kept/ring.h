// Entries of dead objects, by the number of the death. Numbers are handed out in runs, one to a lane: the deaths of some
// threads, which then need no lock of all. Runs go in the order in which they were begun.
#pragma once
#include "zombies/kept/quarantine.h"

#pragma GCC visibility push(hidden)

enum {
  UNDEAD_LANES = 64,
  UNDEAD_RUN = 64,   // numbers
  UNDEAD_PAGE_SHIFT = 14,
  UNDEAD_PAGE_ENTRIES = 1 << UNDEAD_PAGE_SHIFT,
  UNDEAD_PAGES = 4096,
};

// Why objects go, in the order of the counters.
typedef enum { UNDEAD_FOR_BYTES, UNDEAD_FOR_COUNT, UNDEAD_FOR_AGE, UNDEAD_FOR_END, UNDEAD_REASONS } undead_reason;

// What belongs to the deaths of some threads, and is changed with its lock; runs are begun and ended with the ring's
// lock, too. Never waits for the lock of another lane.
typedef struct {
  undead_bounded_lock lock;
  uint32_t waits;                 // for the ring's lock: nothing changes here meanwhile
  uint64_t next, end;             // numbers of its run that have no object yet
  uint64_t going, going_end;      // what it has taken from the ring: it goes when room is needed, one after the other
  int64_t bytes, count;           // what it may keep without asking the ring; below 0: it has to make room
  undead_reason reason;
  uint64_t deaths, evicted[UNDEAD_REASONS], held_when_evicted;
} __attribute__((aligned(128))) undead_lane;

extern undead_lane undead_lanes[UNDEAD_LANES];
extern undead_bounded_lock undead_ring_lock;

// Changed with the ring's lock.
typedef struct {
  uint64_t first_page, next_page;   // numbers of the pages that there are
  uint64_t oldest, next;            // what no lane has taken out yet, and what no lane has begun
  uint64_t bytes, count;            // kept, or handed out to lanes
  undead_zombie_budget budget;
  uint32_t lanes;                   // in use: a power of two
} undead_ring_state;
extern undead_ring_state undead_ring;
extern undead_dead *undead_ring_pages[UNDEAD_PAGES];   // by the number of the page, modulo UNDEAD_PAGES

static inline __attribute__((always_inline)) undead_dead *undead_entry(uint64_t number) {
  return &undead_ring_pages[number >> UNDEAD_PAGE_SHIFT & (UNDEAD_PAGES - 1)][number & (UNDEAD_PAGE_ENTRIES - 1)];
}

// Those that follow are called with the ring's lock.

// Begins a run for the lane, whose last one is full or ended. False without memory.
bool undead_ring_begin_run(undead_lane *lane);
// Hands the lane what it needs, and more where there are other lanes. False if that is over the budget.
bool undead_ring_grant(undead_lane *lane);
// Takes the oldest objects out, for a lane that has none on their way. False if there are none, or another thread is
// about to add to them.
bool undead_ring_take_oldest(undead_lane *lane);
// What the lane may keep is the ring's again; also all that it has taken, and its run is ended.
void undead_ring_settle(undead_lane *lane);
void undead_ring_give_back(undead_lane *lane);
bool undead_ring_is_over(undead_reason *reason);
void undead_ring_set_budget(const undead_zombie_budget *budget);

uint64_t undead_ring_first_remembered(void);
// How many numbers of the run that `number` belongs to have an object, or had one.
uint32_t undead_ring_filled(uint64_t number);

#pragma GCC visibility pop
