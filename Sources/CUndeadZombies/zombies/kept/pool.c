// A block has pages of its own for as long as it lives, in the row of the smallest slots that have room for it. The dead of a row
// wait in a queue of `kept_count` for the next block: one of its first quarter is taken, at random, so that a slot stays dead for
// as long as possible and nobody can foresee which one comes next. Until the queue is full, slots that were never used are taken:
// many times as many, as what lives long would soon have all.
#include "zombies/kept/pool.h"
#include "zombies/kept/closed_pages.h"
#include "glibc/layout.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "record/block_source.h"
#include "record/mode.h"
#include "record/registry.h"
#include "zombies/shared/lock.h"
#include "zombies/shared/state.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { LEAST_ALIGNMENT = 16, SLOTS_FOR_A_DEAD = 16, MOST_SLOTS = 1 << 14, LEAST_DEAD = 2 };

// Slots of one size, side by side.
typedef struct {
  uint32_t pages, share;      // of a slot, without its fence; slots, as a part of those of one page
  uintptr_t low;              // of the first one; 0: there is no room for this row
  undead_fenced_slot *slots;
  uint16_t *queue;            // a ring of `slot_count` numbers
  uint32_t slot_count, kept_count, waiting_first, waiting_count;   // the first is a power of two
  uint32_t used_count;        // the others were never used
  uint32_t first, step;       // in which order they are
} slot_row;

// A page that begins with the header of a chunk, which lies in front of the block, has no room for a power of two. The dead of up
// to 64 KiB keep a quarter of the memory of those of a page, and all that are larger than a page only until the system needs it.
static slot_row rows[] = {{.pages = 1, .share = 1}, {.pages = 16 + 1, .share = 16}, {.pages = 256 + 1, .share = 128}};
enum { ROWS = sizeof rows / sizeof *rows, DEAD_SHARE = 4 };

static undead_bounded_lock lock;
static undead_fenced_counters counters;
static uint32_t dice = 1;

static size_t slot_bytes(const slot_row *row) { return (row->pages + 1ul) * UNDEAD_PAGE; }
static size_t row_bytes(const slot_row *row) { return row->slot_count * slot_bytes(row); }

bool undead_fenced_holds(uintptr_t address) { return undead_block_is_chosen((const void *)address); }

// NULL for the fence in front of all.
static slot_row *row_at(uintptr_t address) {
  for (int i = 0; i < ROWS; i++)
    if (address - rows[i].low < row_bytes(&rows[i])) return &rows[i];
  return NULL;
}

// NULL if it was never used.
static undead_fenced_slot *slot_at(uintptr_t address) {
  const slot_row *row = row_at(address);
  undead_fenced_slot *slot = row ? &row->slots[(address - row->low) / slot_bytes(row)] : NULL;
  return slot && slot->low ? slot : NULL;
}

void undead_fenced_refuse(void) { __atomic_fetch_add(&counters.full, 1, __ATOMIC_RELAXED); }

uint32_t undead_fenced_quarters(void) { return (rows->used_count - rows->waiting_count) * 4 / rows->slot_count; }

// The first rows of the pool, behind a fence. False without memory.
static bool reserve_pool(int count, size_t most) {
  size_t bytes = UNDEAD_PAGE, slots = 0;
  for (int i = 0; i < count; i++) bytes += row_bytes(&rows[i]), slots += rows[i].slot_count;
  if (bytes > most) return false;
  undead_fenced_slot *slot = undead_map(slots * (sizeof *slot + sizeof(uint16_t)));
  void *range = slot ? undead_map_unused(bytes) : NULL;
  uintptr_t low = (uintptr_t)range, high = low + bytes;
  bool done = range != NULL;
  // Without recording, free() looks at blocks in leaves of the registry only.
  for (uintptr_t at = low; done && at < high; at += 1ul << UNDEAD_LEAF_SHIFT)
    done = undead_registry_leaf_slow(at) && undead_registry_leaf_slow(high - 1);
  if (!done) {
    if (range) undead_unmap(range, bytes);
    if (slot) undead_unmap(slot, slots * (sizeof *slot + sizeof(uint16_t)));
    return false;
  }
  uint16_t *queue = (uint16_t *)(slot + slots);
  uintptr_t at = low + UNDEAD_PAGE;
  for (slot_row *row = rows; row < rows + count; row++) {
    row->low = at, row->slots = slot, row->queue = queue;
    at += row_bytes(row), slot += row->slot_count, queue += row->slot_count;
  }
  undead_chosen_blocks.low = low;
  __atomic_store_n(&undead_chosen_blocks.bytes, bytes, __ATOMIC_RELEASE);
  return true;
}

// Addresses are no memory, unless they are limited.
static size_t most_addresses(void) {
  enum { PART = 16 };
  struct rlimit limit;
  bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur / PART : SIZE_MAX;
}

bool undead_fenced_prepare(uint32_t dead, uint32_t wanted) {
  if (undead_chosen_blocks.bytes) return true;
  if (!dead) return false;
  int saved = errno;
  undead_spare_mappings_prepare();
  if (dead > MOST_SLOTS) dead = MOST_SLOTS;
  if (!wanted) wanted = dead * SLOTS_FOR_A_DEAD;
  uint32_t slots = 1;
  while (slots < MOST_SLOTS && slots < wanted) slots *= 2;
  dice = (uint32_t)undead_ticks() | 1;
  for (slot_row *row = rows; row < rows + ROWS; row++) {
    uint32_t kept = dead / row->share / DEAD_SHARE;
    row->kept_count = kept < LEAST_DEAD ? LEAST_DEAD : kept;
    row->slot_count = slots / row->share < 2 * LEAST_DEAD ? 2 * LEAST_DEAD : slots / row->share;
    row->first = dice >> 8, row->step = dice | 1;   // odd: it comes to all of them
  }
  rows->kept_count = dead, rows->slot_count = slots;
  int count = ROWS;
  while (count && !reserve_pool(count, count > 1 ? most_addresses() : SIZE_MAX)) count--;
  errno = saved;
  return count != 0;
}

// MARK: With the lock

static uint16_t *waiting_at(slot_row *row, uint32_t place) { return &row->queue[(row->waiting_first + place) % row->slot_count]; }

static undead_fenced_slot *take_unused(slot_row *row) {
  uint32_t index = (row->first + row->step * row->used_count++) % row->slot_count;
  undead_fenced_slot *slot = &row->slots[index];
  slot->low = row->low + index * slot_bytes(row);
  slot->fence = slot->low + row->pages * UNDEAD_PAGE;
  // A mapping with advice of its own is not joined with its neighbours, and to take it away is a third of the work.
  madvise((void *)slot->low, slot->fence - slot->low, MADV_RANDOM);
  return slot;
}

static undead_fenced_slot *take_slot(slot_row *row) {
  bool has_unused = row->used_count < row->slot_count && !undead_spare_mappings_are_given();
  if (row->waiting_count < row->kept_count && has_unused) return take_unused(row);
  if (!row->waiting_count) return NULL;
  dice = dice * 1664525 + 1013904223;
  uint16_t *chosen = waiting_at(row, (uint32_t)((uint64_t)dice * (row->waiting_count / 4 + 1) >> 32)), *first = waiting_at(row, 0);
  uint16_t index = *chosen;
  *chosen = *first;
  row->waiting_first = (row->waiting_first + 1) % row->slot_count;
  row->waiting_count--;
  return &row->slots[index];
}

static bool has_many_pages(const undead_fenced_slot *slot) { return slot->fence - slot->low > UNDEAD_PAGE; }

static void put_slot(const undead_fenced_slot *slot) {
  slot_row *row = row_at(slot->low);
  *waiting_at(row, row->waiting_count++) = (uint16_t)(slot - row->slots);
}

// False if the kernel refuses: there may be too many mappings, or too little memory.
static bool open_slot(undead_fenced_slot *slot) {
  if (slot->fence_open) slot->fence_open = !undead_dead_pages_protect(slot->fence, slot->fence + UNDEAD_PAGE, PROT_NONE);
  if (slot->state == UNDEAD_FENCED_DEAD) counters.dead_now--;
  slot->state = UNDEAD_FENCED_FREE;
  // Of many pages the next block may need few.
  if (has_many_pages(slot)) madvise((void *)slot->low, slot->fence - slot->low, MADV_DONTNEED);
  return undead_dead_pages_protect(slot->low, slot->fence, PROT_READ | PROT_WRITE);
}

// Of arrays the program sees how much room they have: it is what malloc would give.
static size_t bytes_of(size_t size, uintptr_t isa) { return isa ? undead_chunk_usable(size) : (size + 7) & ~(size_t)7; }

// A scan of what is recorded reads all headers. The kernel may refuse one more mapping.
static uintptr_t close_front(uintptr_t block, size_t room, uintptr_t isa) {
  bool is_whole = !isa && room % UNDEAD_PAGE == 0 && undead_record_mode <= UNDEAD_RECORD_OFF;
  return is_whole && undead_dead_pages_protect(block - UNDEAD_PAGE, block, PROT_NONE) ? block - UNDEAD_PAGE : 0;
}

static void open_front(undead_fenced_slot *slot) {
  if (slot->front) undead_dead_pages_open(slot->front, slot->block);
  slot->front = 0;
}

static bool is_in_front(const undead_fenced_slot *slot, uintptr_t address) {
  return slot->front && address - slot->front < UNDEAD_PAGE;
}

static undead_fenced_slot *begin_block(slot_row *row, size_t size, size_t room, uintptr_t isa,
                                       const undead_fenced_frames *allocation) {
  undead_fenced_slot *slot = take_slot(row);
  if (slot && !open_slot(slot)) {
    undead_spare_mappings_give();
    put_slot(slot);
    slot = NULL;
  }
  if (!slot) {
    undead_fenced_refuse();
    return NULL;
  }
  slot->block = slot->fence - room;
  // As guard pages do it: to malloc_usable_size(), a chunk that is a mapping of its own.
  ((uint64_t *)slot->block)[-1] = (bytes_of(size, isa) + CHUNK_HEADER) | CHUNK_MAPPED;
  slot->front = close_front(slot->block, room, isa);
  slot->size = size;
  slot->isa = isa;
  slot->error = NULL;
  slot->death = 0;
  slot->allocation = *allocation;
  slot->deallocation.count = 0;
  slot->state = UNDEAD_FENCED_LIVE;
  counters.chosen++;
  return slot;
}

// MARK: Blocks

// NULL: there is none for blocks as large as this.
static slot_row *row_for(size_t room) {
  for (int i = 0; i < ROWS && rows[i].low; i++)
    if (room <= rows[i].pages * UNDEAD_PAGE - CHUNK_HEADER) return &rows[i];
  return NULL;
}

void *undead_fenced_allocate(size_t size, size_t alignment, uintptr_t isa, const undead_fenced_frames *allocation, void *twin) {
  if (alignment < LEAST_ALIGNMENT) alignment = LEAST_ALIGNMENT;
  if (!size || size > UNDEAD_FENCED_MOST || alignment > UNDEAD_PAGE) return NULL;
  size_t room = (bytes_of(size, isa) + alignment - 1) & ~(alignment - 1);
  slot_row *row = row_for(room);
  if (!row || !undead_lock_take(&lock)) return NULL;
  undead_fenced_slot *slot = begin_block(row, size, room, isa, allocation);
  uintptr_t block = slot ? slot->block : 0;
  if (slot) slot->twin = twin;
  undead_lock_release(&lock);
  if (!block) return NULL;
  if (room < UNDEAD_PAGE) memset((void *)block, 0, room);
  return (void *)block;
}

static undead_fenced_slot *living(uintptr_t block) {
  undead_fenced_slot *slot = slot_at(block);
  return slot && slot->state == UNDEAD_FENCED_LIVE && slot->block == block ? slot : NULL;
}

static void *give_twin(undead_fenced_slot *slot) {
  void *twin = slot ? slot->twin : NULL;
  if (slot) slot->twin = NULL;
  return twin;
}

void *undead_fenced_bury(uintptr_t block, const undead_fenced_death *death) {
  if (!undead_lock_take(&lock)) return NULL;
  undead_fenced_slot *slot = living(block);
  void *twin = give_twin(slot);
  if (slot) {
    // What was made as an object is one as long as its class stands there, whatever its counts lead to.
    if (!slot->isa || slot->isa != *(const uintptr_t *)block) slot->isa = death->isa;
    slot->error = death->error;
    slot->death = undead_nanoseconds(CLOCK_MONOTONIC_COARSE);
    slot->killer = death->killer;
    slot->deallocation = death->frames;
    // A page that cannot be taken away stays: dead, and readable.
    slot->state = undead_dead_pages_protect(slot->low, slot->fence, PROT_NONE) ? UNDEAD_FENCED_DEAD : UNDEAD_FENCED_USED;
    if (slot->state == UNDEAD_FENCED_DEAD) slot->front = 0, counters.dead_now++;
    open_front(slot);
    if (has_many_pages(slot)) madvise((void *)slot->low, slot->fence - slot->low, MADV_FREE);
    put_slot(slot);
  }
  undead_lock_release(&lock);
  return twin;
}

void *undead_fenced_release(uintptr_t block) {
  if (!undead_lock_take(&lock)) return NULL;
  undead_fenced_slot *slot = living(block);
  void *twin = give_twin(slot);
  if (slot) {
    slot->state = UNDEAD_FENCED_USED;
    open_front(slot);
    put_slot(slot);
  }
  undead_lock_release(&lock);
  return twin;
}

bool undead_fenced_find(uintptr_t block, undead_fenced_slot *copy) {
  if (!undead_fenced_holds(block) || !undead_lock_take(&lock)) return false;
  const undead_fenced_slot *slot = living(block);
  if (slot) *copy = *slot;
  undead_lock_release(&lock);
  return slot != NULL;
}

void undead_fenced_each(void (*see)(uintptr_t block, uintptr_t twin)) {
  for (const slot_row *row = rows; row < rows + ROWS && row->low; row++)
    for (undead_fenced_slot *slot = row->slots; slot < row->slots + row->slot_count; slot++)
      if (slot->state == UNDEAD_FENCED_LIVE) open_front(slot), see(slot->block, (uintptr_t)slot->twin);
}

// MARK: Accesses

bool undead_fenced_is_open(uintptr_t address) {
  const undead_fenced_slot *slot = slot_at(address);
  if (!slot) return false;
  if (address >= slot->fence) return slot->fence_open;
  if (is_in_front(slot, address)) return false;
  return slot->state == UNDEAD_FENCED_LIVE || slot->state == UNDEAD_FENCED_USED;
}

bool undead_fenced_touched(uintptr_t address, undead_fenced_slot *copy, bool *fence, bool *open) {
  undead_fenced_slot *slot = slot_at(address);
  *open = false;
  if (!slot || !undead_lock_take_in_hook(&lock)) return false;
  bool behind = address >= slot->fence, front = is_in_front(slot, address);
  bool is = behind ? !slot->fence_open && slot->state != UNDEAD_FENCED_FREE : front || slot->state == UNDEAD_FENCED_DEAD;
  *fence = behind || front;
  if (is) {
    *copy = *slot;
    uintptr_t low = behind ? slot->fence : front ? slot->front : slot->low;
    *open = undead_dead_pages_open(low, *fence ? low + UNDEAD_PAGE : slot->fence);
    if (*open && behind) slot->fence_open = true;
    else if (*open && front) slot->front = 0;
    else if (*open) slot->state = UNDEAD_FENCED_USED, counters.dead_now--;
  } else {
    *open = undead_fenced_is_open(address);
  }
  undead_lock_release_in_hook(&lock);
  return is;
}

void undead_fenced_open_all(void) {
  if (!undead_lock_take(&lock)) return;
  for (slot_row *row = rows; row < rows + ROWS && row->low; row++)
    for (undead_fenced_slot *slot = row->slots; slot < row->slots + row->slot_count; slot++) {
      if (slot->state != UNDEAD_FENCED_DEAD || !undead_dead_pages_open(slot->low, slot->fence)) continue;
      slot->state = UNDEAD_FENCED_USED;
      counters.dead_now--;
    }
  undead_lock_release(&lock);
}

void undead_fenced_close(uintptr_t address) {
  uintptr_t page = undead_page_of(address);
  undead_dead_pages_protect(page, page + UNDEAD_PAGE, PROT_NONE);
}

void undead_fenced_read_counters(undead_fenced_counters *result) { *result = counters; }

void undead_fenced_before_fork(void) { undead_lock_before_fork(&lock); }
void undead_fenced_after_fork(void) { undead_lock_after_fork(&lock); }
