#define _GNU_SOURCE
#include "zombies/guard_pages.h"
#include "platform/memory.h"
#include "record/allocator.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "zombies/lock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, SLOT_BYTES = UNDEAD_GUARD_SLOT_BYTES, MOST_SLOTS = 1 << 18, SPARE_MAPPINGS = 8192, MAPPINGS_DEFAULT = 65530 };
_Static_assert(SLOT_BYTES == 2 * PAGE, "a page for the header and one for the fields");
// malloc_usable_size() reads the size of a chunk that is a mapping of its own from the word before the block, and takes
// its header off. It is to say what it would have said of a block of malloc.
enum { CHUNK_IS_MAPPED = 2, CHUNK_HEADER = 16, CHUNK_OVERHEAD = 8, CHUNK_LEAST = 32 };

typedef enum { SLOT_FREE, SLOT_LIVE, SLOT_DEAD } slot_state;

typedef struct {
  uint32_t next;     // in the list of free slots, from 1; 0: the last one
  uint32_t state;    // slot_state
} slot;

uintptr_t undead_guard_low;
size_t undead_guard_bytes;

static undead_bounded_lock lock;
static slot *slots;
static uint32_t slot_count, slots_used, first_free;
static undead_guard_counters counters;

static uintptr_t object_of(uint32_t index) {
  return undead_guard_low + (uintptr_t)index * SLOT_BYTES + PAGE - ABI_OBJECT_HEADER;
}
static uint32_t index_of(uintptr_t address) { return (uint32_t)((address - undead_guard_low) / SLOT_BYTES); }
static void *body_of(uint32_t index) { return (void *)(undead_guard_low + (uintptr_t)index * SLOT_BYTES + PAGE); }

// How many mappings a process may have; each protected page takes up to two.
static uint32_t mapping_limit(void) {
  char text[24] = {0};
  int file = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  uint32_t limit = 0;
  for (ssize_t i = 0; i < length && text[i] >= '0' && text[i] <= '9' && limit < (1u << 24); i++)
    limit = limit * 10 + (uint32_t)(text[i] - '0');
  return limit ? limit : MAPPINGS_DEFAULT;
}

bool undead_guard_prepare(void) {
  if (undead_guard_bytes) return true;
  // Its functions would be asked for the size of what is no block of its own.
  if (undead_allocator_is_other()) return false;
  int saved = errno;
  uint32_t limit = mapping_limit();
  uint32_t wanted = limit > SPARE_MAPPINGS * 2 ? (limit - SPARE_MAPPINGS) / 2 : limit / 4;
  slot_count = wanted < MOST_SLOTS ? wanted : MOST_SLOTS;
  slots = undead_map(slot_count * sizeof *slots);
  size_t bytes = (size_t)slot_count * SLOT_BYTES;
  void *range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool ok = slots && range != MAP_FAILED && undead_own_memory(range, bytes);
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

// 0-based; UINT32_MAX if there is none. One that was used before is taken first: its header still takes memory.
static uint32_t take_slot(void) {
  uint32_t index = UINT32_MAX;
  if (!undead_lock_take(&lock)) return index;
  if (first_free) {
    index = first_free - 1;
    first_free = slots[index].next;
  } else if (slots_used < slot_count) {
    index = slots_used++;
  }
  if (index != UINT32_MAX) slots[index].state = SLOT_LIVE;
  undead_lock_release(&lock);
  return index;
}

static void put_slot(uint32_t index) {
  if (!undead_lock_take(&lock)) return;
  slots[index] = (slot){first_free, SLOT_FREE};
  first_free = index + 1;
  undead_lock_release(&lock);
}

static void register_block(uintptr_t block, uint32_t word) {
  undead_leaf *leaf = undead_registry_leaf(block);
  if (!leaf && !(leaf = undead_registry_leaf_slow(block))) return;
  uintptr_t granule = block >> 4 & (UNDEAD_LEAF_GRANULES - 1);
  leaf->touched[granule >> UNDEAD_TOUCH_SHIFT] = 1;
  __atomic_store_n(&leaf->word[granule], word, __ATOMIC_RELEASE);
}

static void *not_guarded(void) {
  __atomic_add_fetch(&counters.not_guarded, 1, __ATOMIC_RELAXED);
  return NULL;
}

static uint64_t usable_size(size_t size) {
  uint64_t chunk = (size + CHUNK_OVERHEAD + 15) & ~15ull;
  return (chunk < CHUNK_LEAST ? CHUNK_LEAST : chunk) - CHUNK_OVERHEAD;
}

void *undead_guard_allocate(size_t size, size_t align_mask, uint32_t backtrace) {
  if (size <= ABI_OBJECT_HEADER || size - ABI_OBJECT_HEADER > PAGE || align_mask > 15) return not_guarded();
  uint32_t index = take_slot();
  if (index == UINT32_MAX) return not_guarded();
  int saved = errno;
  uintptr_t object = object_of(index);
  void *pages = (char *)body_of(index) - PAGE;
  // The kernel refuses when the process has too many mappings.
  if (mprotect(pages, SLOT_BYTES, PROT_READ | PROT_WRITE) != 0) {
    errno = saved;
    put_slot(index);
    return not_guarded();
  }
  errno = saved;
  memset(body_of(index), 0, size - ABI_OBJECT_HEADER);
  ((uint64_t *)object)[-1] = (usable_size(size) + CHUNK_HEADER) | CHUNK_IS_MAPPED;
  register_block(object, backtrace);
  __atomic_add_fetch(&counters.guarded, 1, __ATOMIC_RELAXED);
  return (void *)object;
}

void undead_guard_close(uintptr_t object) {
  uint32_t index = index_of(object);
  int saved = errno;
  // A guard that the kernel refuses leaves the object as it is: dead, and readable.
  if (mprotect(body_of(index), PAGE, PROT_NONE) == 0) {
    __atomic_store_n(&slots[index].state, SLOT_DEAD, __ATOMIC_RELEASE);
    __atomic_add_fetch(&counters.guarded_now, 1, __ATOMIC_RELAXED);
  } else {
    __atomic_add_fetch(&counters.not_guarded, 1, __ATOMIC_RELAXED);
  }
  errno = saved;
}

void undead_guard_expose(uintptr_t object) {
  int saved = errno;
  mprotect(body_of(index_of(object)), PAGE, PROT_READ | PROT_WRITE);
  errno = saved;
}

void undead_guard_open(uintptr_t object) {
  uint32_t index = index_of(object), dead = SLOT_DEAD;
  uint32_t *state = &slots[index].state;
  if (!__atomic_compare_exchange_n(state, &dead, SLOT_LIVE, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  undead_guard_expose(object);
  __atomic_sub_fetch(&counters.guarded_now, 1, __ATOMIC_RELAXED);
}

void undead_guard_free(uintptr_t object) {
  uint32_t *word = undead_registry_slot(object);
  if (word) __atomic_store_n(word, 0, __ATOMIC_RELEASE);
  undead_guard_open(object);
  int saved = errno;
  // Gives the memory back, and nobody can use it until it is another object's. The header stays readable, so that late
  // uses go the way of the others.
  void *body = body_of(index_of(object));
  madvise(body, PAGE, MADV_DONTNEED);
  mprotect(body, PAGE, PROT_NONE);
  errno = saved;
  put_slot(index_of(object));
}

uintptr_t undead_guard_object(uintptr_t address) {
  if (!undead_guard_holds(address)) return 0;
  uint32_t index = index_of(address);
  bool dead = index < slots_used && __atomic_load_n(&slots[index].state, __ATOMIC_ACQUIRE) != SLOT_LIVE;
  return dead && address >= (uintptr_t)body_of(index) ? object_of(index) : 0;
}

bool undead_guard_is_open(uintptr_t address) {
  if (!undead_guard_holds(address)) return false;
  return __atomic_load_n(&slots[index_of(address)].state, __ATOMIC_ACQUIRE) == SLOT_LIVE;
}

void undead_guard_read_counters(undead_guard_counters *result) { *result = counters; }
