#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// A block has a page of its own for as long as it lives. The dead wait in a queue of `kept_count` for the next block: one of its first
// quarter is taken, at random, so that a slot stays dead for as long as possible and nobody can foresee which one comes next. Until
// the queue is full, slots that were never used are taken: many times as many, as what lives long would soon have all.
#include "zombies/kept/pool.h"
#include "glibc/layout.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "record/block_source.h"
#include "record/registry.h"
#include "zombies/shared/lock.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SLOT_BYTES = 2 * UNDEAD_PAGE, LEAST_ALIGNMENT = 16, SLOTS_FOR_A_DEAD = 16, MOST_SLOTS = 1 << 14 };

static undead_fenced_slot *slots;
static uint16_t *queue;             // a ring of `slot_count` numbers
static uint32_t slot_count, kept_count, waiting_first, waiting_count;   // the first is a power of two
static uint32_t used_count;         // of slots; the others were never used
static undead_bounded_lock lock;
static undead_fenced_counters counters;
static uint32_t dice = 1;

// The first page of the range is a fence, too.
static uintptr_t page_of(uint32_t index) { return undead_chosen_blocks.low + UNDEAD_PAGE + (uintptr_t)index * SLOT_BYTES; }
static uintptr_t fence_of(uint32_t index) { return page_of(index) + UNDEAD_PAGE; }

bool undead_fenced_holds(uintptr_t address) { return undead_block_is_chosen((const void *)address); }

// NULL for the first fence.
static undead_fenced_slot *slot_at(uintptr_t address) {
  uintptr_t offset = address - undead_chosen_blocks.low;
  return offset < UNDEAD_PAGE ? NULL : &slots[(offset - UNDEAD_PAGE) / SLOT_BYTES];
}
static uint32_t index_of(const undead_fenced_slot *slot) { return (uint32_t)(slot - slots); }

static bool protect(uintptr_t page, int protection) {
  int saved = errno;
  bool done = mprotect((void *)page, UNDEAD_PAGE, protection) == 0;
  errno = saved;
  return done;
}

// Where mprotect is refused, as by a filter of system calls, a copy takes the page's place.
static bool replace(uintptr_t page) {
  static char copy[UNDEAD_PAGE];
  int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  bool done = file >= 0 && pread(file, copy, sizeof copy, (off_t)page) == (ssize_t)sizeof copy &&
              mmap((void *)page, UNDEAD_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  if (done) memcpy((void *)page, copy, sizeof copy);
  if (file >= 0) close(file);
  return done;
}

// With the lock.
static bool open_page(uintptr_t page) {
  int saved = errno;
  bool done = protect(page, PROT_READ | PROT_WRITE) || replace(page);
  errno = saved;
  return done;
}

void undead_fenced_refuse(void) { __atomic_fetch_add(&counters.full, 1, __ATOMIC_RELAXED); }

uint32_t undead_fenced_quarters(void) { return (used_count - waiting_count) * 4 / slot_count; }

bool undead_fenced_prepare(uint32_t dead, uint32_t wanted) {
  if (undead_chosen_blocks.bytes) return true;
  if (!dead) return false;
  int saved = errno;
  kept_count = dead < MOST_SLOTS ? dead : MOST_SLOTS;
  if (!wanted) wanted = kept_count * SLOTS_FOR_A_DEAD;
  for (slot_count = 1; slot_count < MOST_SLOTS && slot_count < wanted;) slot_count *= 2;
  size_t bytes = (size_t)slot_count * SLOT_BYTES + UNDEAD_PAGE;
  if (!slots) slots = undead_map(slot_count * (sizeof *slots + sizeof *queue));
  void *range = slots ? mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : MAP_FAILED;
  bool done = range != MAP_FAILED && undead_own_memory(range, bytes);
  // Without recording, free() looks at blocks in leaves of the registry only.
  for (uintptr_t at = (uintptr_t)range; done && at < (uintptr_t)range + bytes; at += 1ul << UNDEAD_LEAF_SHIFT)
    done = undead_registry_leaf_slow(at) && undead_registry_leaf_slow((uintptr_t)range + bytes - 1);
  if (done) {
    queue = (uint16_t *)(slots + slot_count);
    dice = (uint32_t)undead_ticks() | 1;
    madvise(range, bytes, MADV_NOHUGEPAGE);
    undead_chosen_blocks.low = (uintptr_t)range;
    __atomic_store_n(&undead_chosen_blocks.bytes, bytes, __ATOMIC_RELEASE);
  } else if (range != MAP_FAILED) {
    munmap(range, bytes);
  }
  errno = saved;
  return done;
}

// MARK: With the lock

static uint16_t *waiting_at(uint32_t place) { return &queue[(waiting_first + place) % slot_count]; }

static undead_fenced_slot *take_unused(void) {
  static uint32_t first, step;
  if (!step) first = dice >> 8, step = dice | 1;   // odd: it comes to all of them
  return &slots[(first + step * used_count++) % slot_count];
}

static undead_fenced_slot *take_slot(void) {
  if (waiting_count < kept_count && used_count < slot_count) return take_unused();
  if (!waiting_count) return NULL;
  dice = dice * 1664525 + 1013904223;
  uint16_t *chosen = waiting_at((uint32_t)((uint64_t)dice * (waiting_count / 4 + 1) >> 32)), *first = waiting_at(0);
  uint16_t index = *chosen;
  *chosen = *first;
  waiting_first = (waiting_first + 1) % slot_count;
  waiting_count--;
  return &slots[index];
}

static void put_slot(undead_fenced_slot *slot) { *waiting_at(waiting_count++) = (uint16_t)index_of(slot); }

// False if the kernel refuses: there may be too many mappings, or too little memory.
static bool open_slot(undead_fenced_slot *slot) {
  uint32_t index = index_of(slot);
  if (slot->fence_open) slot->fence_open = !protect(fence_of(index), PROT_NONE);
  if (slot->state == UNDEAD_FENCED_DEAD) counters.dead_now--;
  slot->state = UNDEAD_FENCED_FREE;
  // A mapping with advice of its own is not joined with its neighbours, and to take it away is a third of the work.
  if (!slot->block) madvise((void *)page_of(index), UNDEAD_PAGE, MADV_RANDOM);
  return protect(page_of(index), PROT_READ | PROT_WRITE);
}

// Of arrays the program sees how much room they have: it is what malloc would give.
static size_t bytes_of(size_t size, uintptr_t isa) { return isa ? undead_chunk_usable(size) : (size + 7) & ~(size_t)7; }

static undead_fenced_slot *begin_block(size_t size, size_t room, uintptr_t isa, const undead_fenced_frames *allocation) {
  undead_fenced_slot *slot = take_slot();
  if (slot && !open_slot(slot)) {
    put_slot(slot);
    slot = NULL;
  }
  if (!slot) {
    undead_fenced_refuse();
    return NULL;
  }
  slot->block = fence_of(index_of(slot)) - room;
  slot->size = size;
  slot->isa = isa;
  slot->death = 0;
  slot->allocation = *allocation;
  slot->deallocation.count = 0;
  slot->state = UNDEAD_FENCED_LIVE;
  counters.chosen++;
  return slot;
}

// MARK: Blocks

void *undead_fenced_allocate(size_t size, size_t alignment, uintptr_t isa, const undead_fenced_frames *allocation) {
  if (alignment < LEAST_ALIGNMENT) alignment = LEAST_ALIGNMENT;
  size_t room = (bytes_of(size, isa) + alignment - 1) & ~(alignment - 1);
  if (!size || size > UNDEAD_PAGE || room > UNDEAD_PAGE - CHUNK_HEADER || !undead_lock_take(&lock)) return NULL;
  undead_fenced_slot *slot = begin_block(size, room, isa, allocation);
  uintptr_t block = slot ? slot->block : 0;
  undead_lock_release(&lock);
  if (!block) return NULL;
  memset((void *)block, 0, fence_of(index_of(slot)) - block);
  // As guard pages do it: to malloc_usable_size(), a chunk that is a mapping of its own.
  ((uint64_t *)block)[-1] = (bytes_of(size, isa) + CHUNK_HEADER) | CHUNK_MAPPED;
  return (void *)block;
}

static uint64_t now(void) {
  struct timespec time = {0};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static undead_fenced_slot *living(uintptr_t block) {
  undead_fenced_slot *slot = slot_at(block);
  return slot && slot->state == UNDEAD_FENCED_LIVE && slot->block == block ? slot : NULL;
}

bool undead_fenced_bury(uintptr_t block, uintptr_t isa, const undead_fenced_actor *killer,
                        const undead_fenced_frames *deallocation) {
  if (!undead_lock_take(&lock)) return true;
  undead_fenced_slot *slot = living(block);
  if (slot) {
    slot->isa = isa;
    slot->death = now();
    slot->killer = *killer;
    slot->deallocation = *deallocation;
    // A page that cannot be taken away stays: dead, and readable.
    slot->state = protect(page_of(index_of(slot)), PROT_NONE) ? UNDEAD_FENCED_DEAD : UNDEAD_FENCED_USED;
    if (slot->state == UNDEAD_FENCED_DEAD) counters.dead_now++;
    put_slot(slot);
  }
  undead_lock_release(&lock);
  return slot != NULL;
}

void undead_fenced_release(uintptr_t block) {
  if (!undead_lock_take(&lock)) return;
  undead_fenced_slot *slot = living(block);
  if (slot) {
    slot->state = UNDEAD_FENCED_USED;
    put_slot(slot);
  }
  undead_lock_release(&lock);
}

void undead_fenced_each(void (*see)(uintptr_t block)) {
  for (uint32_t i = 0; slots && i < slot_count; i++)
    if (slots[i].state == UNDEAD_FENCED_LIVE) see(slots[i].block);
}

// MARK: Accesses

bool undead_fenced_touched(uintptr_t address, undead_fenced_slot *copy, bool *fence, bool *open) {
  undead_fenced_slot *slot = slot_at(address);
  if (!slot || !undead_lock_take_in_hook(&lock)) return false;
  *fence = address >= fence_of(index_of(slot));
  bool is = *fence ? !slot->fence_open && slot->state != UNDEAD_FENCED_FREE : slot->state == UNDEAD_FENCED_DEAD;
  if (is) {
    *copy = *slot;
    *open = open_page(*fence ? fence_of(index_of(slot)) : page_of(index_of(slot)));
    if (*open && *fence) slot->fence_open = true;
    else if (*open) slot->state = UNDEAD_FENCED_USED, counters.dead_now--;
  }
  undead_lock_release_in_hook(&lock);
  return is;
}

void undead_fenced_open_all(void) {
  if (!undead_lock_take(&lock)) return;
  for (uint32_t i = 0; i < slot_count; i++) {
    if (slots[i].state != UNDEAD_FENCED_DEAD || !open_page(page_of(i))) continue;
    slots[i].state = UNDEAD_FENCED_USED;
    counters.dead_now--;
  }
  undead_lock_release(&lock);
}

void undead_fenced_close(uintptr_t address) { protect(address & ~(uintptr_t)(UNDEAD_PAGE - 1), PROT_NONE); }

bool undead_fenced_is_open(uintptr_t address) {
  const undead_fenced_slot *slot = slot_at(address);
  if (!slot) return false;
  if (address >= fence_of(index_of(slot))) return slot->fence_open;
  return slot->state == UNDEAD_FENCED_LIVE || slot->state == UNDEAD_FENCED_USED;
}

void undead_fenced_read_counters(undead_fenced_counters *result) { *result = counters; }

static bool locked_for_fork;
void undead_fenced_before_fork(void) {
  locked_for_fork = undead_lock_take_for(&lock, UNDEAD_LOCK_HELD);
  if (locked_for_fork) undead_hook_hold();
}
void undead_fenced_after_fork(void) {
  if (!locked_for_fork) return;
  undead_lock_release(&lock);
  undead_hook_let_go();
}
#endif
