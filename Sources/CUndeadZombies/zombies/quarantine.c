#define _GNU_SOURCE
#include "zombies/quarantine.h"
#include "platform/memory.h"
#include "record/allocator.h"
#include "runtime/abi.h"
#include "zombies/functions.h"
#include "zombies/guard_pages.h"
#include <time.h>

// A scribble: 28 bits of the number of the death, 10 bits of the word in the object, a margin for accesses beside it.
#define SCRIBBLE_NUMBER_BITS 28
#define SCRIBBLE_WORD_BITS 10
#define SCRIBBLE_MARGIN_BITS 10
#define SCRIBBLE_BYTES ((1u << SCRIBBLE_WORD_BITS) * 8)   // of an object, from its start
_Static_assert(UNDEAD_SCRIBBLE_REACH * 2 == 1u << SCRIBBLE_MARGIN_BITS, "the margin reaches to both sides");

enum { CHUNK_HEADER = 16, CHUNK_LEAST = 32, GRANULE = 16, NEAR = 8, FAR = 24 };

// Deaths are numbered from 0; those in [oldest, next) are kept. Entries stand in pages that are used in turn, so that
// none ever moves; those of objects that have gone for good still tell of them until their page is used again.
enum { PAGE_SHIFT = 14, PAGE_ENTRIES = 1 << PAGE_SHIFT, PAGES = 4096 };
static undead_bounded_lock lock;
static undead_dead *pages[PAGES];        // by the number of the page, modulo PAGES
static uint64_t first_page, next_page;   // numbers of the pages that there are
static uint64_t oldest, next, kept_bytes;
static undead_zombie_budget budget;
static undead_zombie_counters counters;   // those of the quarantine

static inline __attribute__((always_inline)) undead_dead *at(uint64_t number) {
  return &pages[number >> PAGE_SHIFT & (PAGES - 1)][number & (PAGE_ENTRIES - 1)];
}

static uint64_t first_remembered(void) { return first_page << PAGE_SHIFT; }

// What a dead object costs: its chunk of the allocator, the words of the registry for that, and its entry here.
static inline __attribute__((always_inline)) uint64_t cost_of(const undead_dead *dead) {
  uint64_t chunk = (dead->size + CHUNK_HEADER - 8 + 15) & ~15ull;
  if (dead->flags & UNDEAD_DEAD_IS_GUARDED) chunk = UNDEAD_GUARD_SLOT_BYTES;
  if (chunk < CHUNK_LEAST) chunk = CHUNK_LEAST;
  return chunk + chunk / GRANULE * sizeof(uint32_t) + sizeof *dead;
}

// Makes room for the entry `next`: the oldest page if all of its objects have gone, and one page of others behind it.
static bool add_page(void) {
  undead_dead *page = NULL;
  if (next_page - first_page == PAGES) return false;
  if (oldest >> PAGE_SHIFT > first_page + 1) page = pages[first_page++ & (PAGES - 1)];
  else page = undead_map(PAGE_ENTRIES * sizeof *page);
  if (!page) return false;
  pages[next_page++ & (PAGES - 1)] = page;
  return true;
}

static uint64_t scribble_for(uint64_t number, uint64_t offset) {
  uint64_t low = (number & ((1u << SCRIBBLE_NUMBER_BITS) - 1)) << SCRIBBLE_WORD_BITS | offset / 8;
  return UNDEAD_SCRIBBLE_TOP << 48 | low << SCRIBBLE_MARGIN_BITS | UNDEAD_SCRIBBLE_REACH;
}

static void scribble(uintptr_t object, uint64_t size, uint64_t number) {
  uint64_t end = size < SCRIBBLE_BYTES ? size & ~7ull : SCRIBBLE_BYTES, word = scribble_for(number, ABI_OBJECT_HEADER);
  for (uint64_t offset = ABI_OBJECT_HEADER; offset < end; offset += 8, word += 1u << SCRIBBLE_MARGIN_BITS)
    *(uint64_t *)(object + offset) = word;
}

// Makes the object what it was, so that the runtime can free it.
static void restore(const undead_dead *dead) {
  uint64_t *header = (uint64_t *)dead->object;
  uint64_t refcount = __atomic_load_n(&header[1], __ATOMIC_RELAXED);
  if (dead->flags & UNDEAD_DEAD_REFCOUNT_REPLACED) {
    bool retained = refcount >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK;
    if (retained && !(refcount >> 63)) counters.held_when_evicted++;
    header[1] = dead->refcount;
  }
  __atomic_store_n(&header[0], dead->class->original, __ATOMIC_RELEASE);
}

static void free_for_good(const undead_dead *dead) {
  if (dead->flags & UNDEAD_DEAD_IS_FREED) {
    undead_allocator_free((void *)dead->object);
    return;
  }
  UNDEAD_CALL_REAL_DEALLOC(UNDEAD_SWIFT_DEALLOC_OBJECT, (void *)dead->object, dead->size, dead->align_mask);
}

// Takes the oldest out. It is freed by the caller, without the lock.
static void take_oldest(undead_dead *dead) {
  *dead = *at(oldest);
  oldest++;
  // Those that come next are in nobody's cache by now.
  if (oldest + FAR < next) {
    __builtin_prefetch((const void *)at(oldest + NEAR)->object, 1);
    __builtin_prefetch(at(oldest + FAR));
  }
  kept_bytes -= cost_of(dead);
  if (dead->flags & UNDEAD_DEAD_IS_GUARDED) undead_guard_open(dead->object);
  restore(dead);
}

static bool is_over_budget(uint64_t now, uint64_t **reason) {
  if (oldest == next) return false;
  *reason = &counters.evicted_for_bytes;
  if (kept_bytes > budget.bytes) return true;
  *reason = &counters.evicted_for_count;
  if (next - oldest > budget.count) return true;
  *reason = &counters.evicted_for_age;
  return budget.age_milliseconds && now - at(oldest)->death > budget.age_milliseconds * 1000000;
}

static uint64_t now(void) {
  struct timespec time = {0};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// One at a time, so that nobody waits long for the lock.
static bool evict_one(uint64_t time) {
  undead_dead dead;
  uint64_t *reason;
  if (!undead_lock_take_in_hook(&lock)) return false;
  bool over = is_over_budget(time, &reason);
  if (over) {
    ++*reason;
    take_oldest(&dead);
  }
  undead_lock_release_in_hook(&lock);
  if (over) free_for_good(&dead);
  return over;
}

// The header as a dead object's. Other threads see either the living or the dead class.
static void bury(undead_dead *dead) {
  uint64_t *header = (uint64_t *)dead->object;
  uint64_t refcount = header[1];
  bool side_table = refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == ABI_REFCOUNT_SIDE_TABLE_TOP;
  uint64_t unowned = refcount >> ABI_REFCOUNT_UNOWNED_SHIFT & ABI_REFCOUNT_UNOWNED_MASK;
  dead->refcount = refcount;
  // Weak and unowned references ask the count. Without any it may look alive: a release inside of the runtime then
  // comes to the stub that stands in place of the destructor.
  if (!side_table && unowned == 1) {
    dead->flags |= UNDEAD_DEAD_REFCOUNT_REPLACED;
    header[1] = ABI_REFCOUNT_NEW;
  }
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

bool undead_quarantine_add(undead_dead *dead, undead_evicted *evicted) {
  uint64_t *reason = NULL, cost = cost_of(dead);
  dead->death = now();
  if (!undead_lock_take(&lock)) {
    __atomic_add_fetch(&counters.missed, 1, __ATOMIC_RELAXED);
    return false;
  }
  bool fits = cost <= budget.bytes && budget.count > 0;
  if (!fits || (next >> PAGE_SHIFT == next_page && !add_page())) {
    counters.missed++;
    undead_lock_release(&lock);
    return false;
  }
  bury(dead);
  if (dead->flags & UNDEAD_DEAD_IS_SCRIBBLED) scribble(dead->object, dead->size, next);
  undead_dead *entry = at(next++);
  write_entry(entry, dead);
  __builtin_prefetch(entry + NEAR, 1);
  kept_bytes += cost;
  counters.deaths++;
  if (is_over_budget(dead->death, &reason)) {
    ++*reason;
    take_oldest(&evicted->first);
    evicted->count = is_over_budget(dead->death, &reason) ? 2 : 1;
  }
  undead_lock_release(&lock);
  return true;
}

void undead_quarantine_free(const undead_evicted *evicted) {
  if (!evicted->count) return;
  free_for_good(&evicted->first);
  // A large one may need the room of many.
  if (evicted->count > 1) undead_quarantine_trim();
}

void undead_quarantine_trim(void) {
  uint64_t time = now();
  while (evict_one(time)) continue;
}

void undead_quarantine_set_budget(const undead_zombie_budget *wanted) {
  if (!undead_lock_take_in_hook(&lock)) return;
  budget = *wanted;
  undead_lock_release_in_hook(&lock);
  undead_quarantine_trim();
}

void undead_quarantine_empty(void) {
  for (;;) {
    undead_dead dead;
    if (!undead_lock_take_in_hook(&lock)) return;
    bool any = oldest != next;
    if (any) {
      counters.evicted_for_end++;
      take_oldest(&dead);
    }
    undead_lock_release_in_hook(&lock);
    if (!any) return;
    free_for_good(&dead);
  }
}

static bool find_locked(uintptr_t object, undead_dead *dead) {
  for (uint64_t number = next; number-- > oldest;) {
    if (at(number)->object != object) continue;
    *dead = *at(number);
    return true;
  }
  return false;
}

bool undead_quarantine_find_gone(uintptr_t object, undead_dead *dead) {
  if (!object || !undead_lock_take_in_hook(&lock)) return false;
  uint64_t first = first_remembered(), number = oldest;
  while (number > first && at(number - 1)->object != object) number--;
  bool found = number > first;
  if (found) *dead = *at(number - 1);
  undead_lock_release_in_hook(&lock);
  return found;
}

bool undead_quarantine_find_newest(const undead_zombie_class *class, undead_dead *dead) {
  if (!undead_lock_take_in_hook(&lock)) return false;
  uint64_t number = next;
  while (number > oldest && at(number - 1)->class != class) number--;
  bool found = number > oldest;
  if (found) *dead = *at(number - 1);
  undead_lock_release_in_hook(&lock);
  return found;
}

static bool find_number(uint64_t word, uint64_t *number) {
  uint64_t low = word >> (SCRIBBLE_WORD_BITS + SCRIBBLE_MARGIN_BITS) & ((1u << SCRIBBLE_NUMBER_BITS) - 1);
  uint64_t found = oldest + ((low - oldest) & ((1u << SCRIBBLE_NUMBER_BITS) - 1));
  *number = found;
  return found < next;
}

static bool is_scribble(uint64_t word) {
  // Uses of a reference clear some or all of the top bits: tags of enums and bridged objects.
  uint64_t top = word >> 48;
  return (top & 0xFF) == (UNDEAD_SCRIBBLE_TOP & 0xFF) && (top & ~UNDEAD_SCRIBBLE_TOP) == 0;
}

// A dead object's own words tell its number, unless somebody has written to them: then all entries are looked through.
bool undead_quarantine_find(uintptr_t object, undead_dead *dead) {
  if (!undead_lock_take_in_hook(&lock)) return false;
  uint64_t number;
  bool found = false;
  uintptr_t body = object + ABI_OBJECT_HEADER;
  uint64_t word = (object & 7) == 0 && undead_page_is_readable(body) ? *(const uint64_t *)body : 0;
  if (is_scribble(word) && find_number(word, &number) && at(number)->object == object) {
    *dead = *at(number);
    found = true;
  }
  found = found || find_locked(object, dead);
  undead_lock_release_in_hook(&lock);
  return found;
}

bool undead_quarantine_find_scribble(uint64_t word, undead_dead *dead, uint32_t *offset) {
  uint64_t number;
  if (!is_scribble(word) || !undead_lock_take_in_hook(&lock)) return false;
  *offset = (uint32_t)(word >> SCRIBBLE_MARGIN_BITS & ((1u << SCRIBBLE_WORD_BITS) - 1)) * 8;
  bool found = find_number(word, &number);
  if (found) {
    *dead = *at(number);
    found = dead->flags & UNDEAD_DEAD_IS_SCRIBBLED && *offset >= ABI_OBJECT_HEADER && *offset < dead->size;
  }
  undead_lock_release_in_hook(&lock);
  return found;
}

void undead_quarantine_read_counters(undead_zombie_counters *result) {
  *result = counters;
  result->kept = next - oldest;
  result->kept_bytes = kept_bytes;
}

static bool locked_for_fork;
void undead_quarantine_before_fork(void) {
  locked_for_fork = undead_lock_take_for(&lock, UNDEAD_LOCK_HELD);
  if (locked_for_fork) undead_hook_hold();
}
void undead_quarantine_after_fork(void) {
  if (!locked_for_fork) return;
  undead_lock_release(&lock);
  undead_hook_let_go();
}
