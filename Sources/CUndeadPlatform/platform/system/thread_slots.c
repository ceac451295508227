#include "platform/system/thread_slots.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include <errno.h>

static int32_t owners[UNDEAD_THREAD_SLOTS];

static bool is_gone(int32_t tid) { return undead_raw3(SYS_tkill, tid, 0, 0) == -ESRCH; }

int undead_thread_slot(int32_t tid) {
  enum { PROBES = 8 };
  for (int round = 0; round < 2; round++) {
    for (uint32_t probe = 0; probe < PROBES; probe++) {
      uint32_t slot = ((uint32_t)tid + probe) % UNDEAD_THREAD_SLOTS;
      int32_t owner = __atomic_load_n(&owners[slot], __ATOMIC_RELAXED);
      if (owner == tid) return (int)slot;
      if (round == 0 || (owner && !is_gone(owner))) continue;
      if (__atomic_compare_exchange_n(&owners[slot], &owner, tid, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return (int)slot;
    }
  }
  return -1;
}
