#define _GNU_SOURCE
#include "platform/memory.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RANGE_LIMIT 8192

typedef struct {
  uintptr_t low, high;
} memory_range;

// Read without a lock in a stopped world: an entry counts while its `high` is set. Slots given back are used again.
static memory_range ranges[RANGE_LIMIT];
static uint32_t range_count;

static uint32_t used_ranges(void) {
  uint32_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
  return count < RANGE_LIMIT ? count : RANGE_LIMIT;
}

static bool take_slot(uint32_t index, uintptr_t address, size_t bytes) {
  uintptr_t free_slot = 0;
  if (!__atomic_compare_exchange_n(&ranges[index].low, &free_slot, address, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return false;
  __atomic_store_n(&ranges[index].high, address + bytes, __ATOMIC_RELEASE);
  return true;
}

bool undead_own_memory(const void *address, size_t bytes) {
  uint32_t count = used_ranges();
  for (uint32_t index = 0; index < count; index++)
    if (ranges[index].low == 0 && take_slot(index, (uintptr_t)address, bytes)) return true;
  for (;;) {
    uint32_t index = __atomic_fetch_add(&range_count, 1, __ATOMIC_ACQ_REL);
    if (index >= RANGE_LIMIT) {
      __atomic_store_n(&range_count, RANGE_LIMIT, __ATOMIC_RELEASE);
      return false;
    }
    // Another thread may have found the new slot free in its search.
    if (take_slot(index, (uintptr_t)address, bytes)) return true;
  }
}

static void *map(size_t bytes, int sharing) {
  int saved = errno;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    errno = saved;
    return NULL;
  }
  // The tables are touched sparsely: huge pages would multiply their size.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  if (!undead_own_memory(memory, bytes)) {
    munmap(memory, bytes);
    memory = NULL;
  }
  errno = saved;
  return memory;
}

void *undead_map(size_t bytes) {
  return map(bytes, MAP_PRIVATE);
}

void *undead_map_shared(size_t bytes) {
  return map(bytes, MAP_SHARED);
}

void undead_unmap(void *address, size_t bytes) {
  if (!address) return;
  int saved = errno;
  uint32_t count = used_ranges();
  for (uint32_t index = 0; index < count; index++) {
    if (ranges[index].low != (uintptr_t)address) continue;
    __atomic_store_n(&ranges[index].high, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&ranges[index].low, 0, __ATOMIC_RELEASE);
    break;
  }
  munmap(address, bytes);
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

bool undead_page_is_readable(uintptr_t address) {
  // The kernel copies the set before it rejects `how`, so only an unreadable address yields EFAULT.
  int saved = errno;
  long result = syscall(SYS_rt_sigprocmask, -1, address & ~(uintptr_t)4095, NULL, 8);
  bool readable = !(result == -1 && errno == EFAULT);
  errno = saved;
  return readable;
}
