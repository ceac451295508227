#include "record/avoid.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/memory/spread.h"
#include "record/mode.h"
#include "record/registry.h"
#include "record/way.h"
#include "unwind/store/stack.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define AVOIDED_SLOTS (1u << 18)                   // of the table; a power of two
#define MOST_ADDRESSES (AVOIDED_SLOTS / 2)         // more are not noted: leaks may stay hidden, nothing else
#define MOST_FOUND 16384u                  // by a look, likewise
#define BYTES_BELOW (64u << 10)            // how far below the stack pointer later frames are expected
#define CLEARED_BYTES (16u << 10)          // of these; no more than a check has in frames: a context's stack may end there
#define MOST_FILTERED 512u                 // bytes that are asked about at once
#define LOWEST_ADDRESS 0x10000u

typedef struct {
  uint64_t granules[AVOIDED_SLOTS];                // address / 16, 0 where the slot is free
  uint8_t filter[UNDEAD_AVOID_BITS / 8 + 8];   // the last word is read as a whole
  uint32_t used[MOST_ADDRESSES];           // the slots that are not, so that few pages are touched to free them again
  uintptr_t found[MOST_FOUND];             // by the last look
} address_table;

const uint8_t *undead_avoid_filter;
static address_table *table;
static uint32_t count, found_count;
static void *put_aside;

// Addresses of one page of the heap lie side by side: few pages of the table are touched, and the first touch of each costs more
// than all that is asked of it.
static uint32_t avoided_slot_of(uint64_t granule) {
  uint64_t page = granule / (UNDEAD_PAGE / 16);
  return (uint32_t)((undead_spread(page) >> 40) + granule % (UNDEAD_PAGE / 16)) & (AVOIDED_SLOTS - 1);
}

static uint32_t filter_bit(uint64_t granule) { return (uint32_t)granule & (UNDEAD_AVOID_BITS - 1); }

// NULL also while nothing is recorded: then no new block is a candidate, and a sanitizer may forbid to look at a stack.
static address_table *prepared_table(void) {
  if (undead_record_mode <= UNDEAD_RECORD_OFF) return NULL;
  address_table *known = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
  if (known) return known;
  address_table *made = undead_map(sizeof(*made));
  if (!made) return NULL;
  if (__atomic_compare_exchange_n(&table, &known, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&undead_avoid_filter, made->filter, __ATOMIC_RELEASE);
    return made;
  }
  undead_unmap(made, sizeof(*made));
  return known;
}

static void add(address_table *to, uintptr_t address) {
  uint64_t granule = address >> 4;
  for (uint32_t slot = avoided_slot_of(granule);; slot = (slot + 1) & (AVOIDED_SLOTS - 1)) {
    uint64_t found = __atomic_load_n(&to->granules[slot], __ATOMIC_RELAXED);
    if (found == granule) return;
    if (found != 0) continue;
    uint32_t index = __atomic_load_n(&count, __ATOMIC_RELAXED);
    do {
      if (index >= MOST_ADDRESSES) return;
    } while (!__atomic_compare_exchange_n(&count, &index, index + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    // Before the slot is taken: who frees them all meanwhile frees it, or leaves an address that is avoided for longer.
    __atomic_store_n(&to->used[index], slot, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(&to->granules[slot], &found, granule, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      break;
    slot = (slot - 1) & (AVOIDED_SLOTS - 1);       // another thread took it: look again
  }
  uint32_t bit = filter_bit(granule);
  uint8_t mask = (uint8_t)(1u << bit % 8), *byte = &to->filter[bit / 8];
  if (!(__atomic_load_n(byte, __ATOMIC_RELAXED) & mask)) __atomic_or_fetch(byte, mask, __ATOMIC_RELAXED);
}

// Most of a stack that was cleared is 0.
#define AVOIDED_AT_ONCE 8u

static bool are_small(const uintptr_t *word) {
  uintptr_t bits = 0;
  for (uint32_t i = 0; i < AVOIDED_AT_ONCE; i++) bits |= word[i];
  return (bits & UNDEAD_REFERENCE_BITS) < LOWEST_ADDRESS;
}

static void add_words(address_table *to, uintptr_t from, uintptr_t end, uintptr_t stack_high) {
  const uintptr_t *last = (const uintptr_t *)end;
  for (const uintptr_t *word = (const uintptr_t *)from; word < last; word++) {
    while ((size_t)(last - word) > AVOIDED_AT_ONCE && are_small(word)) word += AVOIDED_AT_ONCE;
    uintptr_t address = *word & UNDEAD_REFERENCE_BITS;
    if (address < LOWEST_ADDRESS || address - from < stack_high - from) continue;
    // Not where no block ever was: most of the others are addresses of code.
    if (undead_registry_leaf(address)) add(to, address);
  }
}

// From where on the stack can be read, up to BYTES_BELOW below an address on it.
static uintptr_t readable_from(uintptr_t low) {
  uintptr_t below = undead_page_of(low);
  // Which remembers what the kernel said.
  if (undead_stack_has_room(&undead_thread, BYTES_BELOW + UNDEAD_PAGE)) return below - BYTES_BELOW;
  while (low - below < BYTES_BELOW && undead_page_is_readable(below - UNDEAD_PAGE)) below -= UNDEAD_PAGE;
  return below < low ? below : low;
}

static void begin_avoiding(void) {
  __atomic_store_n(&undead_avoids_addresses, true, __ATOMIC_RELEASE);
  undead_way_choose();
}

// Exported by the dynamic loader.
extern void *__libc_stack_end;

// Below it may be memory of others that can be read, where the stack has no guard or is one that the program made. Below that of
// the main thread the kernel keeps a gap.
static uintptr_t begin_of_stack(uintptr_t high) {
  static __thread uintptr_t known;
  if (high == (uintptr_t)__libc_stack_end) return 0;
  if (known) return known;
  int saved_errno = errno;
  undead_thread_stack stack;
  known = high;   // nothing is cleared if nobody knows
  undead_thread.ignored++;
  if (undead_own_stack(&stack)) known = stack.low;
  undead_thread.ignored--;
  errno = saved_errno;
  return known;
}

#define ROOM_OF_CALLS 1024u   // that are under way while the stack is cleared

// Nothing below the frame of this function is in use: where there are no old addresses, there is nothing to avoid. Returns where
// that begins, and behind it its end; the same if there is no room.
static __attribute__((noinline)) uintptr_t clear_from(uintptr_t low, uintptr_t *end) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15;
  if (here < low + ROOM_OF_CALLS) return *end = low;
  size_t size = here - low - ROOM_OF_CALLS;
  char *room = __builtin_alloca(size);
  memset(room, 0, size);
  __asm__ volatile("" : : "r"(room) : "memory");
  *end = (uintptr_t)room + size;
  return (uintptr_t)room;
}

__attribute__((no_sanitize("address"))) void undead_avoid_stack(uintptr_t stack_pointer) {
  uintptr_t low = stack_pointer & ~(uintptr_t)15;
  if (!undead_stack_covers(&undead_thread, low)) return;
  uintptr_t high = undead_thread.stack_high, cleared, end;
  address_table *to = prepared_table();
  if (!to) return;
  low = readable_from(low);
  uintptr_t begin_of_own = begin_of_stack(high);
  uintptr_t lowest = stack_pointer - CLEARED_BYTES > low ? stack_pointer - CLEARED_BYTES : low;
  cleared = clear_from(lowest > begin_of_own ? lowest : begin_of_own, &end);
  add_words(to, low, cleared & ~(uintptr_t)7, high);
  add_words(to, (end + 7) & ~(uintptr_t)7, high & ~(uintptr_t)7, high);
  begin_avoiding();
}

void undead_avoid_words(uintptr_t low, uintptr_t high) {
  address_table *to = prepared_table();
  if (!to) return;
  add_words(to, (low + 7) & ~(uintptr_t)7, high & ~(uintptr_t)7, high);
  begin_avoiding();
}

void undead_avoid_look(void) { __atomic_store_n(&found_count, 0, __ATOMIC_RELAXED); }

void undead_avoid_address(uintptr_t address) {
  address_table *to = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
  if (!to) return;
  uint32_t index = __atomic_load_n(&found_count, __ATOMIC_RELAXED);
  // Several threads may look.
  if (index < MOST_FOUND && (index = __atomic_fetch_add(&found_count, 1, __ATOMIC_RELAXED)) < MOST_FOUND)
    __atomic_store_n(&to->found[index], address, __ATOMIC_RELAXED);
  if (__atomic_load_n(&undead_avoids_addresses, __ATOMIC_ACQUIRE)) add(to, address);
}

void undead_avoid_found(void) {
  uint32_t found = __atomic_load_n(&found_count, __ATOMIC_RELAXED);
  address_table *to = found ? __atomic_load_n(&table, __ATOMIC_ACQUIRE) : NULL;
  if (!to) return;
  if (found > MOST_FOUND) found = MOST_FOUND;
  for (uint32_t i = 0; i < found; i++) add(to, __atomic_load_n(&to->found[i], __ATOMIC_RELAXED));
  begin_avoiding();
}

static bool has_granule(const address_table *in, uint64_t granule) {
  for (uint32_t slot = avoided_slot_of(granule);; slot = (slot + 1) & (AVOIDED_SLOTS - 1)) {
    uint64_t found = __atomic_load_n(&in->granules[slot], __ATOMIC_RELAXED);
    if (found == granule || found == 0) return found != 0;
  }
}

static bool covers(const address_table *in, uintptr_t low, uintptr_t high) {
  for (uintptr_t from = low; from < high; from += MOST_FILTERED) {
    uintptr_t end = high - from < MOST_FILTERED ? high : from + MOST_FILTERED;
    if (!undead_avoid_may_cover((void *)from, end - from)) continue;
    for (uintptr_t address = from; address < end; address += 16)
      if (has_granule(in, address >> 4)) return true;
  }
  return false;
}

bool undead_avoid_block(void *block, size_t size) {
  const address_table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
  assert(in && (uintptr_t)block % 16 == 0);
  if (!covers(in, (uintptr_t)block, (uintptr_t)block + size)) return false;
  void *next = __atomic_load_n(&put_aside, __ATOMIC_RELAXED);
  do *(void **)block = next;
  while (!__atomic_compare_exchange_n(&put_aside, &next, block, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  return true;
}

void *undead_avoid_end(void) {
  __atomic_store_n(&undead_avoids_addresses, false, __ATOMIC_RELEASE);
  undead_way_choose();
  address_table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
  // Who adds or looks meanwhile may miss an address, or find one that is gone.
  uint32_t used = in ? __atomic_exchange_n(&count, 0, __ATOMIC_RELAXED) : 0;
  for (uint32_t index = 0; index < used; index++) {
    uint32_t slot = __atomic_load_n(&in->used[index], __ATOMIC_RELAXED);
    uint64_t granule = __atomic_load_n(&in->granules[slot], __ATOMIC_RELAXED);
    __atomic_store_n(&in->granules[slot], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&in->filter[filter_bit(granule) / 8], 0, __ATOMIC_RELAXED);
  }
  return __atomic_exchange_n(&put_aside, NULL, __ATOMIC_ACQUIRE);
}

void *undead_avoid_put_aside(void) { return __atomic_load_n(&put_aside, __ATOMIC_ACQUIRE); }
