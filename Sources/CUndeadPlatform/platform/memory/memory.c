#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define RANGE_LIMIT 8192

typedef struct {
  uintptr_t low, high;
  bool is_data;      // writable, and of this process alone
} memory_range;

// Read without a lock in a stopped world: an entry counts while its `high` is set. Slots given back are used again.
static memory_range ranges[RANGE_LIMIT];
static uint32_t range_count;

static uint32_t used_ranges(void) {
  uint32_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
  return count < RANGE_LIMIT ? count : RANGE_LIMIT;
}

static bool take_slot(uint32_t index, uintptr_t address, size_t bytes, bool is_data) {
  uintptr_t free_slot = 0;
  if (!__atomic_compare_exchange_n(&ranges[index].low, &free_slot, address, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  ranges[index].is_data = is_data;
  __atomic_store_n(&ranges[index].high, address + bytes, __ATOMIC_RELEASE);
  return true;
}

static bool own(const void *address, size_t bytes, bool is_data) {
  uint32_t count = used_ranges();
  for (uint32_t index = 0; index < count; index++)
    if (ranges[index].low == 0 && take_slot(index, (uintptr_t)address, bytes, is_data)) return true;
  for (;;) {
    uint32_t index = __atomic_fetch_add(&range_count, 1, __ATOMIC_ACQ_REL);
    if (index >= RANGE_LIMIT) {
      __atomic_store_n(&range_count, RANGE_LIMIT, __ATOMIC_RELEASE);
      return false;
    }
    // Another thread may have found the new slot free in its search.
    if (take_slot(index, (uintptr_t)address, bytes, is_data)) return true;
  }
}

bool undead_own_memory(const void *address, size_t bytes) { return own(address, bytes, false); }

static undead_own_sizes sizes;
undead_before_map_function volatile undead_before_map;

undead_own_sizes undead_own_memory_sizes(void) {
  return (undead_own_sizes){__atomic_load_n(&sizes.addresses, __ATOMIC_RELAXED),
                            __atomic_load_n(&sizes.data, __ATOMIC_RELAXED)};
}

void undead_count_data(size_t bytes) { __atomic_add_fetch(&sizes.data, bytes, __ATOMIC_RELAXED); }

void undead_make_room(size_t bytes) {
  undead_before_map_function function = undead_before_map;
  if (function) function(bytes);
}

volatile bool undead_memory_is_locked;

// Locked memory is filled when it is mapped with access, or gets access, but not if it is unlocked in between.
static void *map_pages(size_t bytes, int protection, int flags) {
  if (!undead_memory_is_locked) return mmap(NULL, bytes, protection, flags, -1, 0);
  void *memory = mmap(NULL, bytes, PROT_NONE, flags, -1, 0);
  if (memory == MAP_FAILED) return memory;
  munlock(memory, bytes);
  if (mprotect(memory, bytes, protection) == 0) return memory;
  munmap(memory, bytes);
  return MAP_FAILED;
}

static void *map(size_t bytes, int protection, int sharing) {
  int saved = errno;
  undead_make_room(bytes);
  void *memory = map_pages(bytes, protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE);
  if (memory == MAP_FAILED) {
    errno = saved;
    return NULL;
  }
  // The tables are touched sparsely: huge pages would multiply their size.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  bool is_data = protection != PROT_NONE && sharing == MAP_PRIVATE;
  if (!own(memory, bytes, is_data)) {
    munmap(memory, bytes);
    errno = saved;
    return NULL;
  }
  __atomic_add_fetch(&sizes.addresses, bytes, __ATOMIC_RELAXED);
  if (is_data) undead_count_data(bytes);
  errno = saved;
  return memory;
}

void *undead_map(size_t bytes) {
  return map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

void *undead_map_shared(size_t bytes) {
  return map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
}

void *undead_map_unused(size_t bytes) {
  return map(bytes, PROT_NONE, MAP_PRIVATE);
}

// What was mapped and is not `wanted` is given back.
static bool keep_addresses(void *memory, size_t bytes, bool wanted) {
  bool there = wanted && own(memory, bytes, false);
  if (there) __atomic_add_fetch(&sizes.addresses, bytes, __ATOMIC_RELAXED);
  else if (memory != MAP_FAILED) munmap(memory, bytes);
  return there;
}

const void *undead_map_file(int descriptor, size_t bytes) {
  int saved = errno;
  undead_make_room(bytes);
  void *memory = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  bool there = keep_addresses(memory, bytes, memory != MAP_FAILED);
  errno = saved;
  return there ? memory : NULL;
}

void undead_let_go_of_file(const void *from, const void *to) {
  int saved = errno;
  uintptr_t low = undead_page_of((uintptr_t)from), high = undead_page_of((uintptr_t)to);
  if (low < high) madvise((void *)low, high - low, MADV_DONTNEED);
  errno = saved;
}

bool undead_reserve_at(void *address, size_t bytes) {
  int saved = errno;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void *memory = mmap(address, bytes, PROT_NONE, flags, -1, 0);
  // Kernels before 4.17 take the address for a wish.
  bool there = keep_addresses(memory, bytes, memory == address);
  errno = saved;
  return there;
}

void undead_unmap(void *address, size_t bytes) {
  if (!address) return;
  int saved = errno;
  uint32_t count = used_ranges();
  for (uint32_t index = 0; index < count; index++) {
    if (ranges[index].low != (uintptr_t)address) continue;
    __atomic_sub_fetch(&sizes.addresses, bytes, __ATOMIC_RELAXED);
    if (ranges[index].is_data) __atomic_sub_fetch(&sizes.data, bytes, __ATOMIC_RELAXED);
    ranges[index].is_data = false;
    __atomic_store_n(&ranges[index].high, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&ranges[index].low, 0, __ATOMIC_RELEASE);
    break;
  }
  munmap(address, bytes);
  errno = saved;
}

void undead_clear_memory(void *address, size_t bytes) {
  int saved = errno;
  // Locked pages cannot be given back.
  if (madvise(address, bytes, MADV_DONTNEED) != 0) memset(address, 0, bytes);
  errno = saved;
}

void *undead_map_larger(void *old, size_t bytes, size_t larger_bytes) {
  void *larger = undead_map(larger_bytes);
  if (!larger || !old) return larger;
  memcpy(larger, old, bytes);
  undead_unmap(old, bytes);
  return larger;
}

void undead_unmap_tail(void *address, size_t bytes, size_t kept) {
  int saved = errno;
  uint32_t count = used_ranges();
  for (uint32_t index = 0; index < count; index++)
    if (ranges[index].low == (uintptr_t)address)
      __atomic_store_n(&ranges[index].high, (uintptr_t)address + kept, __ATOMIC_RELEASE);
  munmap((char *)address + kept, bytes - kept);
  __atomic_sub_fetch(&sizes.addresses, bytes - kept, __ATOMIC_RELAXED);
  errno = saved;
}

int undead_owns_memory(uintptr_t address) {
  uint32_t count = used_ranges();
  for (uint32_t index = 0; index < count; index++)
    if (address >= ranges[index].low && address < ranges[index].high) return 1;
  return 0;
}

bool undead_owned_range(size_t index, uintptr_t *low, uintptr_t *high) {
  if (index >= used_ranges()) return false;
  *low = ranges[index].low;
  *high = ranges[index].high;
  return true;
}

// Waiting for a word to change reads it first; only an unreadable one yields EFAULT. A sandbox that lets malloc work allows
// this call.
static bool can_be_waited_for(uintptr_t page) {
  const struct timespec at_once = {0, 0};
  const long wait = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
  return undead_raw6(SYS_futex, (long)page, wait, UNDEAD_NO_SIGNAL_CHANGE, (long)&at_once, 0, 0) != -EFAULT;
}

enum { MASK_BYTES = 8 };

// A new signal mask is read before the kernel finds that it does not know what to do with it.
static long try_as_mask(uintptr_t address) {
  return undead_raw4(SYS_rt_sigprocmask, UNDEAD_NO_SIGNAL_CHANGE, (long)address, 0, MASK_BYTES);
}

// 1 if the bytes of a mask can be read, 0 if not, -1 if the kernel does not say.
static int can_be_mask(uintptr_t address) {
  // Who plays the kernel may look at the arguments in another order: asked once, of the kernel's own memory.
  static enum { NOT_TRIED, READS_MASK, READS_NO_MASK } kernel;
  if (kernel == NOT_TRIED) kernel = try_as_mask(-(uintptr_t)4096) == -EFAULT ? READS_MASK : READS_NO_MASK;
  // Like the other question it goes around `syscall`, which is ours.
  long answer = kernel == READS_MASK ? try_as_mask(address) : 0;
  return answer == -EINVAL ? 1 : answer == -EFAULT ? 0 : -1;
}

bool undead_page_is_readable(uintptr_t address) {
  uintptr_t page = undead_page_of(address);
  int answer = can_be_mask(page);
  return answer < 0 ? can_be_waited_for(page) : answer;
}

bool undead_pages_are_readable(uintptr_t address, size_t size) {
  uintptr_t end = address + size;
  if (!address || end < address) return false;
  for (uintptr_t page = undead_page_of(address); page < end; page += UNDEAD_PAGE)
    if (!undead_page_is_readable(page)) return false;
  return true;
}

bool undead_border_is_readable(uintptr_t border) {
  int answer = can_be_mask(border - MASK_BYTES / 2);
  return answer < 0 ? can_be_waited_for(border - 4096) && can_be_waited_for(border) : answer;
}
