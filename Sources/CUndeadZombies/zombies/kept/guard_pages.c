#include "zombies/kept/guard_pages.h"
#include "glibc/layout.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/system/read_text.h"
#include "record/allocator.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "zombies/kept/closed_pages.h"
#include "zombies/kept/pool.h"
#include "zombies/shared/lock.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  GUARD_SLOT_BYTES = UNDEAD_GUARD_SLOT_BYTES,
  MOST_GUARD_SLOTS = 1 << 18,
  SPARE_MAPPINGS = 8192 + 2 * UNDEAD_FENCED_STORAGE_SLOTS,
  MAPPINGS_DEFAULT = 65530,
  GROUP_SLOTS = 32,           // slots that are opened together
  FREE_SLOTS_KEPT = 2048,     // free ones that keep the memory of their fields for the next object
};
#define WHOLE_GROUP UINT32_MAX
_Static_assert(GUARD_SLOT_BYTES == 2 * UNDEAD_PAGE, "a page for the header and one for the fields");
// malloc_usable_size() reads the size of a chunk that is a mapping of its own from the word before the block, and takes
// its header off. It is to say what it would have said of a block of malloc (glibc/layout.h).

typedef enum { SLOT_FREE, SLOT_LIVE, SLOT_DEAD } slot_state;

uintptr_t undead_guard_low;
size_t undead_guard_bytes;

static undead_bounded_lock guard_lock;
static uint8_t *states;             // slot_state of each slot
// For each group of slots, those that are free; their fields are protected. Objects go without the lock, also in a signal
// handler that interrupted its holder.
static uint32_t *free_slots, free_count;
static uint32_t group_count, groups_used;
static uint32_t open_group, open_slots;   // free slots that can be used as they are: from where the next objects come
static undead_guard_counters guard_counters;

static uintptr_t object_of(uint32_t index) {
  return undead_guard_low + (uintptr_t)index * GUARD_SLOT_BYTES + UNDEAD_PAGE - ABI_OBJECT_HEADER;
}
static uint32_t guard_index_of(uintptr_t address) { return (uint32_t)((address - undead_guard_low) / GUARD_SLOT_BYTES); }
static void *body_of(uint32_t index) { return (void *)(undead_guard_low + (uintptr_t)index * GUARD_SLOT_BYTES + UNDEAD_PAGE); }

// How many mappings a process may have; each protected page takes up to two.
static uint64_t mapping_limit(void) {
  uint64_t limit = undead_number_in("/proc/sys/vm/max_map_count");
  return limit ? limit : MAPPINGS_DEFAULT;
}

bool undead_guard_prepare(void) {
  if (undead_guard_bytes) return true;
  // Its functions would be asked for the size of what is no block of its own.
  if (undead_allocator_is_other()) return false;
  int saved = errno;
  undead_spare_mappings_prepare();
  uint64_t limit = mapping_limit();
  uint64_t wanted = limit > SPARE_MAPPINGS * 2 ? (limit - SPARE_MAPPINGS) / 2 : limit / 4;
  group_count = (uint32_t)(wanted < MOST_GUARD_SLOTS ? wanted : MOST_GUARD_SLOTS) / GROUP_SLOTS;
  states = undead_map((size_t)group_count * GROUP_SLOTS);
  free_slots = undead_map(group_count * sizeof *free_slots);
  size_t bytes = (size_t)group_count * GROUP_SLOTS * GUARD_SLOT_BYTES;
  void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool ok = states && free_slots && range != MAP_FAILED && undead_own_memory(range, bytes);
  if (ok) {
    // Huge pages would put the pages of 256 objects together.
    madvise(range, bytes, MADV_NOHUGEPAGE);
    undead_guard_low = (uintptr_t)range;
    __atomic_store_n(&undead_guard_bytes, bytes, __ATOMIC_RELEASE);
  } else if (range != MAP_FAILED) {
    munmap(range, bytes);
  }
  errno = saved;
  return ok;
}

// Opens slots of a group, as many as lie side by side at once. False if the kernel refuses.
static bool open_pages(uint32_t group, uint32_t mask) {
  while (mask) {
    uint32_t first = (uint32_t)__builtin_ctz(mask), after = mask >> first;
    uint32_t count = after == WHOLE_GROUP ? GROUP_SLOTS : (uint32_t)__builtin_ctz(~after);
    char *pages = (char *)body_of(group * GROUP_SLOTS + first) - UNDEAD_PAGE;
    if (mprotect(pages, (size_t)count * GUARD_SLOT_BYTES, PROT_READ | PROT_WRITE) != 0) return false;
    mask &= count == GROUP_SLOTS ? 0 : ~(((1u << count) - 1) << first);
  }
  return true;
}

// Mappings with advice of their own are never joined with their neighbours: to protect the fields of an object is then
// a change of one mapping, and not three out of one and back, which takes thrice as long.
static void set_apart(uint32_t group) {
  for (uint32_t i = 0; i < GROUP_SLOTS; i++) madvise(body_of(group * GROUP_SLOTS + i), UNDEAD_PAGE, MADV_RANDOM);
}

static void put_slots(uint32_t group, uint32_t mask) {
  __atomic_fetch_add(&free_count, (uint32_t)__builtin_popcount(mask), __ATOMIC_RELAXED);
  __atomic_fetch_or(&free_slots[group], mask, __ATOMIC_RELEASE);
}

// The next group that has many free slots, as good as in the order in which objects went. If there is none, one that
// was never used, whose headers take no memory yet; at last the one that has most. `group_count`: there is none.
static uint32_t next_group(void) {
  enum { MANY = GROUP_SLOTS * 3 / 4 };
  uint32_t best = group_count, at = open_group;
  int most = 0;
  bool may_be = free_count >= MANY || groups_used == group_count;
  for (uint32_t i = 0; may_be && i < groups_used; i++) {
    at = at + 1 < groups_used ? at + 1 : 0;
    int free = __builtin_popcount(__atomic_load_n(&free_slots[at], __ATOMIC_RELAXED));
    if (free >= MANY) return at;
    if (free > most) most = free, best = at;
  }
  if (groups_used == group_count || undead_spare_mappings_are_given()) return best;
  set_apart(groups_used);
  put_slots(groups_used, WHOLE_GROUP);
  return groups_used++;
}

static bool open_more(void) {
  uint32_t group = next_group();
  if (group == group_count) return false;
  uint32_t mask = __atomic_exchange_n(&free_slots[group], 0, __ATOMIC_ACQ_REL);
  __atomic_fetch_sub(&free_count, (uint32_t)__builtin_popcount(mask), __ATOMIC_RELAXED);
  if (!open_pages(group, mask)) {
    undead_spare_mappings_give();
    put_slots(group, mask);
    return false;
  }
  open_group = group;
  open_slots = mask;
  return mask != 0;
}

// 0-based; UINT32_MAX if there is none.
static uint32_t take_guard_slot(void) {
  uint32_t index = UINT32_MAX;
  int saved = errno;
  if (!undead_lock_take(&guard_lock)) return index;
  if (open_slots || open_more()) {
    index = open_group * GROUP_SLOTS + (uint32_t)__builtin_ctz(open_slots);
    open_slots &= open_slots - 1;
    __atomic_store_n(&states[index], SLOT_LIVE, __ATOMIC_RELEASE);
  }
  undead_lock_release(&guard_lock);
  errno = saved;
  return index;
}

static void register_block(uintptr_t block, uint32_t word) {
  undead_leaf *leaf = undead_registry_leaf(block);
  if (!leaf && !(leaf = undead_registry_leaf_slow(block))) return;
  uintptr_t granule = block >> 4 & (UNDEAD_LEAF_GRANULES - 1);
  undead_registry_touch(leaf, block);
  __atomic_store_n(&leaf->word[granule], word, __ATOMIC_RELEASE);
}

static void *not_guarded(void) {
  __atomic_add_fetch(&guard_counters.not_guarded, 1, __ATOMIC_RELAXED);
  return NULL;
}

bool undead_guard_is_half_full(void) {
  uint32_t used = __atomic_load_n(&groups_used, __ATOMIC_RELAXED) * GROUP_SLOTS;
  return used - __atomic_load_n(&free_count, __ATOMIC_RELAXED) > group_count * GROUP_SLOTS / 2;
}

void *undead_guard_allocate(size_t size, size_t align_mask, uint32_t backtrace) {
  if (size <= ABI_OBJECT_HEADER || size - ABI_OBJECT_HEADER > UNDEAD_PAGE || align_mask > 15) return not_guarded();
  uint32_t index = take_guard_slot();
  if (index == UINT32_MAX) return not_guarded();
  uintptr_t object = object_of(index);
  memset(body_of(index), 0, size - ABI_OBJECT_HEADER);
  ((uint64_t *)object)[-1] = (undead_chunk_usable(size) + CHUNK_HEADER) | CHUNK_MAPPED;
  register_block(object, backtrace);
  __atomic_add_fetch(&guard_counters.guarded, 1, __ATOMIC_RELAXED);
  return (void *)object;
}

void undead_guard_close(uintptr_t object) {
  uint32_t index = guard_index_of(object);
  int saved = errno;
  // Before it is closed: who meets the page then asks what it is.
  __atomic_store_n(&states[index], SLOT_DEAD, __ATOMIC_RELEASE);
  if (mprotect(body_of(index), UNDEAD_PAGE, PROT_NONE) == 0) {
    __atomic_add_fetch(&guard_counters.guarded_now, 1, __ATOMIC_RELAXED);
  } else {
    // A guard that the kernel refuses leaves the object as it is: dead, and readable.
    __atomic_store_n(&states[index], SLOT_LIVE, __ATOMIC_RELEASE);
    __atomic_add_fetch(&guard_counters.not_guarded, 1, __ATOMIC_RELAXED);
  }
  errno = saved;
}

static bool open_body(uint32_t index) {
  uintptr_t body = (uintptr_t)body_of(index);
  return undead_dead_pages_open(body, body + UNDEAD_PAGE);
}

bool undead_guard_expose(uintptr_t object) {
  uint32_t index = guard_index_of(object);
  // With the lock, nobody gets the slot for another object meanwhile.
  if (!undead_lock_take_in_hook(&guard_lock)) return false;
  bool is_own = free_slots[index / GROUP_SLOTS] >> index % GROUP_SLOTS & 1 || states[index] == SLOT_DEAD;
  bool opened = is_own && open_body(index);
  if (opened) memset(body_of(index), 0, UNDEAD_PAGE);
  undead_lock_release_in_hook(&guard_lock);
  return opened || !is_own;
}

bool undead_guard_open(uintptr_t object) {
  uint32_t index = guard_index_of(object);
  uint8_t dead = SLOT_DEAD;
  if (__atomic_load_n(&states[index], __ATOMIC_ACQUIRE) != SLOT_DEAD) return true;
  bool opened = open_body(index);
  // Another thread may have met it as well.
  if (__atomic_compare_exchange_n(&states[index], &dead, SLOT_LIVE, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    __atomic_sub_fetch(&guard_counters.guarded_now, 1, __ATOMIC_RELAXED);
  return opened;
}

void undead_guard_free(uintptr_t object) {
  uint32_t index = guard_index_of(object);
  int saved = errno;
  void *body = body_of(index);
  // Nobody can use the fields until they are to be another object's. The header stays readable, so that late uses go the
  // way of the others.
  uint8_t state = __atomic_exchange_n(&states[index], SLOT_FREE, __ATOMIC_ACQ_REL);
  if (state == SLOT_FREE) return;
  if (state == SLOT_LIVE) {
    uint32_t *word = undead_registry_slot(object);
    if (word) __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    mprotect(body, UNDEAD_PAGE, PROT_NONE);
  } else {
    __atomic_sub_fetch(&guard_counters.guarded_now, 1, __ATOMIC_RELAXED);
  }
  if (__atomic_load_n(&free_count, __ATOMIC_RELAXED) > FREE_SLOTS_KEPT) madvise(body, UNDEAD_PAGE, MADV_DONTNEED);
  errno = saved;
  put_slots(index / GROUP_SLOTS, 1u << index % GROUP_SLOTS);
}

// Memory that no object had yet is no object's.
static bool was_used(uint32_t index) { return index / GROUP_SLOTS < __atomic_load_n(&groups_used, __ATOMIC_RELAXED); }

uintptr_t undead_guard_object(uintptr_t address) {
  if (!undead_guard_holds(address)) return 0;
  uint32_t index = guard_index_of(address);
  bool dead = was_used(index) && __atomic_load_n(&states[index], __ATOMIC_ACQUIRE) != SLOT_LIVE;
  return dead && address >= (uintptr_t)body_of(index) ? object_of(index) : 0;
}

bool undead_guard_is_open(uintptr_t address) {
  if (!undead_guard_holds(address)) return false;
  return __atomic_load_n(&states[guard_index_of(address)], __ATOMIC_ACQUIRE) == SLOT_LIVE;
}

void undead_guard_before_fork(void) { undead_lock_before_fork(&guard_lock); }
void undead_guard_after_fork(void) { undead_lock_after_fork(&guard_lock); }

void undead_guard_read_counters(undead_guard_counters *result) { *result = guard_counters; }
