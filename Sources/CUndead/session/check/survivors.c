// Whether a test left anything behind, from the records of blocks alone.
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "undead.h"
#include "undead_assertions.h"
#include "record/registry.h"
#include "record/scopes.h"
#include "session/check/check.h"
#include <errno.h>
#include <string.h>

// What a test leaves behind is seldom more, and a look at the whole process is then worth its time.
#define MOST_SURVIVORS 4096u

typedef struct {
  uint32_t scope;
  uintptr_t *list;
  uint32_t count, most;
} survivor_search;

// Scopes are open only while their survivors are asked for, so all that they allocated is recent. Backtraces of older blocks
// than the scope have lower ids than those of its own.
static bool add_survivor(void *context, uintptr_t block, uint32_t *word) {
  survivor_search *search = context;
  uint32_t backtrace = __atomic_load_n(word, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE;
  uint32_t scope = undead_scope_of_backtrace(backtrace);
  if (scope == 0) return true;
  // Scopes that were opened later may lie in this one.
  bool candidate = (scope & ~(UNDEAD_SCOPE_SOLE | UNDEAD_SCOPE_BESIDE)) >= search->scope;
  if (!candidate || !undead_may_be_leak(block, backtrace)) return true;
  if (search->list && search->count < search->most) search->list[search->count] = block;
  return ++search->count < search->most;
}

bool undead_scope_has_survivors(uint32_t scope, uint32_t mark) {
  survivor_search search = {.scope = scope, .most = 1};
  undead_lock_checks();   // a check renews the list of modules
  undead_registry_each_recent(mark, add_survivor, &search);
  undead_unlock_checks();
  undead_clear_stack();   // of the address of what was found: it would hide it from the search that follows
  return search.count != 0;
}

// Whether they are certainly alive. False if another check is under way, or if the first one crashed: so may the next.
static bool are_held(undead_proof *proof) {
  static bool crashes;
  undead_check *check = undead_is_active() && !crashes ? undead_check_try_claim() : NULL;
  if (!check) return false;
  check->proof = proof;
  bool started = undead_check_start(check);
  crashes = started && !(undead_check_wait(check) && check->succeeded);
  undead_check_release(check);
  return started && !crashes && proof->found;
}

bool undead_scope_may_have_leaks(uint32_t scope, uint32_t mark, const void *holder) {
  int saved_errno = errno;
  static uintptr_t *list;   // under the lock
  survivor_search search = {.scope = scope, .most = MOST_SURVIVORS};
  undead_lock_checks();
  search.list = list ? list : (list = undead_map(MOST_SURVIVORS * sizeof *list));
  undead_registry_each_recent(mark, add_survivor, &search);
  undead_proof proof = {.wanted = search.list, .wanted_count = search.count, .holder = (uintptr_t)holder, .first_id = mark};
  bool may_have = search.count != 0;
  if (may_have && search.list && search.count < MOST_SURVIVORS) may_have = !are_held(&proof);
  // A later scan would take them for references.
  if (search.list) memset(search.list, 0, search.count * sizeof *search.list);
  undead_unlock_checks();
  undead_clear_stack();
  errno = saved_errno;
  return may_have;
}
