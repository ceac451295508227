// mlockall(), interposed: it would fill all of our tables, which are larger than what is used of them, with memory.
#include "undead.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/mode.h"
#include "session/state/interpose.h"
#include "session/limits/limits.h"
#include "session/state/process.h"
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

static bool is_own_memory(uintptr_t low, uintptr_t high, uintptr_t *own_low, uintptr_t *own_high) {
  *own_low = *own_high = high;
  for (size_t i = 0; undead_owned_range(i, own_low, own_high); i++)
    if (*own_low < high && *own_high > low) return true;
  return false;
}

// Fills the parts of a mapping that are not ours with memory; some of the kernel's own refuse.
static void lock_range(uintptr_t low, uintptr_t high) {
  uintptr_t own_low, own_high;
  while (low < high && is_own_memory(low, high, &own_low, &own_high)) {
    if (own_low > low) lock_range(low, own_low);
    low = own_high;
  }
  if (low < high) mlock((const void *)low, high - low);
}

static bool lock_mapping(void *unused, const undead_mapping *mapping) {
  (void)unused;
  if (mapping->readable || mapping->writable || mapping->executable) lock_range(mapping->low, mapping->high);
  return true;
}

static void unlock_own(void) {
  uintptr_t low, high;
  for (size_t i = 0; undead_owned_range(i, &low, &high); i++)
    if (low < high) munlock((const void *)low, high - low);
}

// The kernel compares the size of the process, and ours is a part of it, with the limit.
static int lock_without_filling(int flags) {
  __typeof__(mlockall) *next = UNDEAD_NEXT(mlockall);
  int result = next(flags | MCL_ONFAULT);
  struct rlimit limit, higher;
  if (result == 0 || errno != ENOMEM || getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return result;
  undead_record_limit_addresses(limit.rlim_cur);
  size_t own = undead_own_memory_sizes().addresses;
  higher = limit;
  if (limit.rlim_cur != RLIM_INFINITY) higher.rlim_cur += own;
  if (higher.rlim_cur > limit.rlim_max) higher.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_MEMLOCK, &higher);
  result = next(flags | MCL_ONFAULT);
  int error = errno;
  setrlimit(RLIMIT_MEMLOCK, &limit);
  errno = error;
  return result;
}

int undead_mlockall(int flags) __asm__("mlockall") __attribute__((visibility("default")));
int undead_mlockall(int flags) {
  __typeof__(mlockall) *next = UNDEAD_NEXT(mlockall);
  bool fills = (flags & MCL_CURRENT) && !(flags & MCL_ONFAULT);
  if (!undead_is_active() || undead_process_now() == UNDEAD_PROCESS_BORROWED) return next(flags);
  int result = fills ? lock_without_filling(flags) : next(flags);
  if (result != 0) return result;
  int saved_errno = errno;
  undead_memory_is_locked = flags & MCL_FUTURE;
  if (fills && (flags & MCL_FUTURE)) next(MCL_FUTURE);
  unlock_own();
  if (fills && !undead_maps_each(lock_mapping, NULL)) result = next(flags);
  errno = saved_errno;
  return result;
}
