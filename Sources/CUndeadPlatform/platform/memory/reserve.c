#include "platform/memory/reserve.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include <sys/mman.h>

#define STEP (1ul << 20)   // least growth; else a quarter of what is usable

bool undead_reserve_open(undead_reserve *reserve, size_t bytes, size_t least) {
  if (__atomic_load_n(&reserve->base, __ATOMIC_ACQUIRE)) return true;
  uint8_t *fresh, *expected = NULL;
  bytes = undead_page_from(bytes);
  while (!(fresh = undead_map_unused(bytes)))
    if ((bytes /= 2) < least) return false;
  if (__atomic_compare_exchange_n(&reserve->base, &expected, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    __atomic_store_n(&reserve->reserved, bytes, __ATOMIC_RELEASE);
  else
    undead_unmap(fresh, bytes);
  return true;
}

static void raise_to(size_t *value, size_t least) {
  size_t found = __atomic_load_n(value, __ATOMIC_RELAXED);
  while (found < least && !__atomic_compare_exchange_n(value, &found, least, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

static bool make_usable(undead_reserve *reserve, size_t bytes) {
  size_t usable = undead_reserve_usable(reserve), reserved = __atomic_load_n(&reserve->reserved, __ATOMIC_SEQ_CST);
  if (bytes <= usable) return true;
  if (bytes > reserved) return false;
  size_t target = undead_page_from(usable + (usable / 4 > STEP ? usable / 4 : STEP));
  if (target < bytes) target = undead_page_from(bytes);
  if (target > reserved) target = reserved;
  undead_make_room(target - usable);
  // Two threads may do it at once: the pages are the same.
  long start = (long)(reserve->base + usable), size = (long)(target - usable);
  if (undead_raw3(SYS_mprotect, start, size, PROT_READ | PROT_WRITE) != 0) return false;
  undead_count_data(target - usable);
  raise_to(&reserve->usable, target);
  return true;
}

bool undead_reserve_grow(undead_reserve *reserve, size_t bytes) {
  if (bytes <= undead_reserve_usable(reserve)) return true;
  __atomic_add_fetch(&reserve->changing, 1, __ATOMIC_SEQ_CST);
  bool grown = make_usable(reserve, bytes);
  __atomic_sub_fetch(&reserve->changing, 1, __ATOMIC_SEQ_CST);
  return grown;
}

void undead_reserve_trim(undead_reserve *reserve, size_t kept) {
  enum { PATIENCE = 1000 };
  size_t reserved = __atomic_load_n(&reserve->reserved, __ATOMIC_ACQUIRE);
  size_t end = undead_page_from(undead_reserve_usable(reserve) + kept);
  if (!reserve->base || end >= reserved) return;
  __atomic_store_n(&reserve->reserved, end, __ATOMIC_SEQ_CST);
  // Who read the old length before is at work yet, or was interrupted: then the addresses stay reserved.
  for (int i = 0; __atomic_load_n(&reserve->changing, __ATOMIC_SEQ_CST); i++) {
    if (i == PATIENCE) return;
    undead_raw3(SYS_sched_yield, 0, 0, 0);
  }
  size_t usable = undead_reserve_usable(reserve);
  if (usable > end) end = usable;
  undead_unmap_tail(reserve->base, reserved, end);
}

void undead_reserve_clear(undead_reserve *reserve) {
  if (reserve->base) undead_clear_memory(reserve->base, undead_reserve_usable(reserve));
}
