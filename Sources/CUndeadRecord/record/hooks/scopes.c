#include "record/scopes.h"
#include "platform/memory/own_data.h"
#include "undead_scopes.h"
#include "platform/system/process_id.h"
#include "record/avoid.h"
#include "record/registry.h"
#include "record/way.h"
#include <sched.h>

#define LAST_SCOPE (UNDEAD_SCOPE_BESIDE - 1)

static uint32_t last_scope;

// The process of the thread that opens a scope, 0 if nobody does.
static int32_t opening_process;

// While no scope is open, all blocks are old ones. Nobody may open another scope while they are made that: what it
// allocates would be old.
static void count_open_scope(void) {
  int32_t self = undead_process_id(), holder = 0;
  // No thread of a forked child holds a lock that it has from its parent.
  while (!__atomic_compare_exchange_n(&opening_process, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    if (holder != self) continue;
    sched_yield();
    holder = 0;
  }
  if (__atomic_load_n(&undead_open_scopes, __ATOMIC_ACQUIRE) == 0) {
    undead_registry_age();
    undead_avoid_found();
  }
  __atomic_add_fetch(&undead_open_scopes, 1, __ATOMIC_SEQ_CST);
  undead_way_choose();
  __atomic_store_n(&opening_process, 0, __ATOMIC_RELEASE);
}

uint32_t undead_scope_open(void) {
  uint32_t scope = __atomic_add_fetch(&last_scope, 1, __ATOMIC_RELAXED);
  if (scope > LAST_SCOPE) {
    __atomic_store_n(&last_scope, LAST_SCOPE, __ATOMIC_RELAXED);
    return 0;
  }
  count_open_scope();
  undead_avoid_stack((uintptr_t)__builtin_frame_address(0));
  return scope;
}

void undead_scope_close(uint32_t scope) {
  // Which also chooses the way of the hooks anew.
  if (scope && __atomic_sub_fetch(&undead_open_scopes, 1, __ATOMIC_ACQ_REL) == 0) undead_avoid_no_longer();
}
