#include "zombies/kept/ring.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include <sched.h>

enum {
  RUNS = UNDEAD_PAGE_ENTRIES / UNDEAD_RUN,
  // What a lane takes at once. One of many keeps it from the others, so that there are only as many as do not matter.
  LANE_BYTES = 8192,
  LANE_COUNT = 64,
  SHARE = 128,   // of the budget, for a lane
};

// Of each run, modulo all that there are room for.
typedef struct {
  uint8_t filled;   // once it is ended
  uint8_t owner;    // its lane, from 1; 0: it is ended
} run;

undead_lane undead_lanes[UNDEAD_LANES];
undead_bounded_lock undead_ring_lock;
undead_ring_state undead_ring = {.lanes = 1};
undead_dead *undead_ring_pages[UNDEAD_PAGES];
static run runs[UNDEAD_PAGES * RUNS];

// Taken out by lanes that did not free them: the next ones to go.
typedef struct {
  uint64_t going, going_end;
} range;
static range left[UNDEAD_LANES * 2];
static uint32_t left_count;

static run *run_of(uint64_t number) { return &runs[number / UNDEAD_RUN & (UNDEAD_PAGES * RUNS - 1)]; }

uint64_t undead_ring_first_remembered(void) { return undead_ring.first_page << UNDEAD_PAGE_SHIFT; }

uint32_t undead_ring_filled(uint64_t number) {
  const run *run = run_of(number);
  if (!run->owner) return run->filled;
  return (uint32_t)(__atomic_load_n(&undead_lanes[run->owner - 1].next, __ATOMIC_ACQUIRE) - number / UNDEAD_RUN * UNDEAD_RUN);
}

// The other numbers of the lane's run stay unused.
static void end_run(undead_lane *lane) {
  if (!lane->end) return;
  run *run = run_of(lane->end - 1);
  run->filled = (uint8_t)(lane->next - (lane->end - UNDEAD_RUN));
  run->owner = 0;
  lane->next = lane->end = 0;
}

static void leave(undead_lane *lane) {
  if (lane->going == lane->going_end || left_count == sizeof left / sizeof *left) return;
  left[left_count++] = (range){lane->going, lane->going_end};
  lane->going = lane->going_end = 0;
}

static bool is_on_its_way_in(uint64_t page) {
  bool any = false;
  for (uint32_t i = 0; i < left_count; i++) any = any || left[i].going >> UNDEAD_PAGE_SHIFT == page;
  for (uint32_t i = 0; i < UNDEAD_LANES; i++) {
    undead_lane *lane = &undead_lanes[i];
    uint64_t going = __atomic_load_n(&lane->going, __ATOMIC_ACQUIRE);
    if (going == lane->going_end || going >> UNDEAD_PAGE_SHIFT != page) continue;
    any = true;
    // Its threads may have no more deaths for long.
    if (!undead_lock_try(&lane->lock, (uintptr_t)__builtin_frame_address(0))) continue;
    leave(lane);
    undead_lock_release(&lane->lock);
  }
  return any;
}

// The oldest page if all of its objects have gone, and one page of others behind it, which are remembered.
static bool add_page(void) {
  undead_ring_state *ring = &undead_ring;
  undead_dead *page = NULL;
  if (ring->next_page - ring->first_page == UNDEAD_PAGES) return false;
  bool may_go = ring->oldest >> UNDEAD_PAGE_SHIFT > ring->first_page + 1;
  if (may_go && !is_on_its_way_in(ring->first_page)) page = undead_ring_pages[ring->first_page++ & (UNDEAD_PAGES - 1)];
  else page = undead_map(UNDEAD_PAGE_ENTRIES * sizeof *page);
  if (!page) return false;
  undead_ring_pages[ring->next_page++ & (UNDEAD_PAGES - 1)] = page;
  return true;
}

bool undead_ring_begin_run(undead_lane *lane) {
  undead_ring_state *ring = &undead_ring;
  end_run(lane);
  if (ring->next >> UNDEAD_PAGE_SHIFT == ring->next_page && !add_page()) return false;
  *run_of(ring->next) = (run){0, (uint8_t)(lane - undead_lanes + 1)};
  lane->next = ring->next;
  ring->next += UNDEAD_RUN;
  lane->end = ring->next;
  return true;
}

// Another lane's run is ended, so that its objects can go. A thread that adds to it does that in no time, or waits for us.
static bool end_run_of(undead_lane *lane) {
  enum { SPINS = 200, YIELDS = 50 };
  for (int i = 0; i < SPINS + YIELDS; i++) {
    bool taken = undead_lock_try(&lane->lock, (uintptr_t)__builtin_frame_address(0));
    if (taken || __atomic_load_n(&lane->waits, __ATOMIC_ACQUIRE)) {
      end_run(lane);
      if (taken) undead_lock_release(&lane->lock);
      return true;
    }
    if (i > SPINS) sched_yield();
  }
  return false;
}

static bool take_left(undead_lane *lane) {
  if (!left_count) return false;
  uint32_t first = 0;
  for (uint32_t i = 1; i < left_count; i++)
    if (left[i].going < left[first].going) first = i;
  lane->going_end = left[first].going_end;
  __atomic_store_n(&lane->going, left[first].going, __ATOMIC_RELEASE);
  left[first] = left[--left_count];
  return true;
}

bool undead_ring_take_oldest(undead_lane *lane) {
  undead_ring_state *ring = &undead_ring;
  if (take_left(lane)) return true;
  while (ring->oldest < ring->next) {
    const run *run = run_of(ring->oldest);
    if (run->owner && &undead_lanes[run->owner - 1] == lane) end_run(lane);
    if (run->owner && !end_run_of(&undead_lanes[run->owner - 1])) return false;
    uint64_t first = ring->oldest;
    ring->oldest += UNDEAD_RUN;
    if (!run->filled) continue;
    lane->going_end = first + run->filled;
    __atomic_store_n(&lane->going, first, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

static uint64_t at_least_0(int64_t number) { return number > 0 ? (uint64_t)number : 0; }

static bool grant(undead_lane *lane, uint64_t bytes, uint64_t count) {
  undead_ring_state *ring = &undead_ring;
  if (ring->bytes + bytes > ring->budget.bytes || ring->count + count > ring->budget.count) return false;
  ring->bytes += bytes;
  ring->count += count;
  lane->bytes += (int64_t)bytes;
  lane->count += (int64_t)count;
  return true;
}

bool undead_ring_grant(undead_lane *lane) {
  uint64_t bytes = at_least_0(-lane->bytes), count = at_least_0(-lane->count);
  if (undead_ring.lanes > 1 && grant(lane, bytes + LANE_BYTES, count + LANE_COUNT)) return true;
  return grant(lane, bytes, count);
}

void undead_ring_settle(undead_lane *lane) {
  undead_ring.bytes -= (uint64_t)lane->bytes;
  undead_ring.count -= (uint64_t)lane->count;
  lane->bytes = lane->count = 0;
}

void undead_ring_give_back(undead_lane *lane) {
  undead_ring_settle(lane);
  end_run(lane);
  leave(lane);
}

bool undead_ring_is_over(undead_reason *reason) {
  *reason = UNDEAD_FOR_BYTES;
  if (undead_ring.bytes > undead_ring.budget.bytes) return true;
  *reason = UNDEAD_FOR_COUNT;
  return undead_ring.count > undead_ring.budget.count;
}

void undead_ring_set_budget(const undead_zombie_budget *budget) {
  undead_ring.budget = *budget;
  uint32_t lanes = 1;
  // The oldest object of all goes first, to the day, only if there is one lane.
  uint64_t by_bytes = budget->bytes / SHARE / LANE_BYTES, by_count = budget->count / SHARE / LANE_COUNT;
  uint64_t most = budget->age_milliseconds ? 1 : by_bytes < by_count ? by_bytes : by_count;
  while (lanes < UNDEAD_LANES && lanes * 2 <= most) lanes *= 2;
  __atomic_store_n(&undead_ring.lanes, lanes, __ATOMIC_RELAXED);
}
