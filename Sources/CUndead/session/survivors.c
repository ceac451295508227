#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Whether a test left anything behind, told from the records of blocks alone.
#include "session/survivors.h"
#include "platform/own_data.h"
#include "undead_assertions.h"
#include "record/registry.h"
#include "record/scopes.h"
#include "session/candidates.h"
#include <string.h>

typedef struct {
  uint32_t first_id;   // backtraces of older blocks have lower ones
  uint32_t scope;
  bool found;
} survivor_search;

// Scopes are open only while their survivors are asked for, so all that they allocated is recent.
static bool is_no_survivor(void *context, uintptr_t block, uint32_t *word) {
  survivor_search *search = context;
  uint32_t backtrace = __atomic_load_n(word, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE;
  if (backtrace < search->first_id) return true;
  uint32_t scope = undead_scope_of_backtrace(backtrace);
  if (scope == 0) return true;
  // Scopes that were opened later may lie in this one.
  bool candidate = (scope & ~(UNDEAD_SCOPE_SOLE | UNDEAD_SCOPE_BESIDE)) >= search->scope;
  search->found = candidate && undead_may_be_leak(block, backtrace);
  return !search->found;
}

bool undead_scope_has_survivors(uint32_t scope, uint32_t mark) {
  survivor_search search = {.first_id = mark, .scope = scope};
  undead_lock_checks();   // a check renews the list of modules
  undead_registry_each_recent(is_no_survivor, &search);
  undead_unlock_checks();
  undead_clear_stack();   // of the address of what was found: it would hide it from the search that follows
  return search.found;
}

// Written and read under the lock of checks.
static uint32_t held_scopes[UNDEAD_MOST_THREAD_SCOPES], held_count;

void undead_survivors_note(const undead_scan_result *result) {
  held_count = result->thread_scope_count;
  memcpy(held_scopes, result->thread_scopes, held_count * sizeof(*held_scopes));
}

uint32_t undead_scopes_held_by_threads(uint32_t *scopes, uint32_t max) {
  uint32_t count = held_count < max ? held_count : max;
  memcpy(scopes, held_scopes, count * sizeof(*scopes));
  return count;
}
#endif
