#include "record/mode.h"
#include "record/claims.h"
#include "platform/memory/boundaries.h"
#include "platform/system/environment.h"
#include "platform/memory/own_data.h"
#include "record/gate.h"
#include "record/reach.h"
#include "record/sample.h"
#include "record/sparse.h"
#include "record/way.h"
#include "unwind/backtrace.h"
#include "unwind/pc_table.h"
#include "unwind/settings.h"
#include "unwind/store/store.h"
#include <string.h>
#include <unistd.h>

static bool is_zero(const char *text) {
  return text && strcmp(text, "0") == 0;
}

static bool is_preload(void) {
  return &undead_is_preload && undead_is_preload;
}

// Assertions need the backtraces, and scopes, of all blocks.
bool undead_record_samples(void) {
  if (!undead_record_runs_tests()) undead_sample_read_settings();
  undead_sparse_used |= undead_sample_wanted();
  return undead_sample_wanted();
}

bool undead_record_is_left_out(void) {
  // The variables may be hidden from the program later: the first answer counts.
  static int known;
  if (known == 0) {
    const char *zombies = undead_setting("UNDEAD_ZOMBIES");
    bool only = zombies && strcmp(zombies, "sampled") == 0 && !undead_setting("UNDEAD_STACKS") && !undead_setting("UNDEAD_SAMPLE");
    known = only && !undead_record_runs_tests() ? 1 : -1;
  }
  return known > 0;
}

static undead_mode mode_with_backtraces(void) {
  if (undead_record_stacks_wanted() == UNDEAD_STACKS_NONE) return UNDEAD_RECORD_BLOCKS;
  if (undead_record_samples()) return UNDEAD_RECORD_SAMPLED;
  return UNDEAD_RECORD_BACKTRACES;
}

int32_t undead_record_decide(void) {
  int32_t mode = undead_record_mode;
  if (mode != UNDEAD_RECORD_UNDECIDED) return mode;
  // Before libc has its environment the dynamic loader allocates a few blocks: known, but without backtraces.
  if (!environ) return is_preload() && !undead_record_is_sandboxed() ? UNDEAD_RECORD_BLOCKS : UNDEAD_RECORD_OFF;
  const char *wanted = undead_setting("UNDEAD");
  // A copy linked into a program that the tool runs takes the place of the preloaded one, from the first block on.
  bool session = is_preload() || undead_setting("UNDEAD_SESSION");
  bool on = !is_zero(wanted);
  if (session) on = on && !undead_record_is_sandboxed() && undead_record_is_meant_here();
  // Assertions in a test program that links Undead have to know all allocations.
  else on = on && ((wanted && strcmp(wanted, "1") == 0) || undead_record_runs_tests());
  on = on && !undead_record_is_left_out();
  int32_t expected = UNDEAD_RECORD_UNDECIDED;
  int32_t decided = on ? (int32_t)mode_with_backtraces() : UNDEAD_RECORD_OFF;
  if (!__atomic_compare_exchange_n(&undead_record_mode, &expected, decided, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return expected;
  undead_backtrace_goes_on = on;
  undead_way_choose();
  return decided;
}

void undead_record_start(undead_mode mode) {
  undead_record_decide();
  // Libraries may have come and gone unseen while recording was off.
  undead_backtrace_forget_images();
  if (mode == UNDEAD_RECORD_SAMPLED) undead_sparse_used = true;
  undead_way_choose();   // nobody may free by words only when the first byte is written
  undead_backtrace_goes_on = true;
  __atomic_store_n(&undead_record_mode, mode, __ATOMIC_RELEASE);
  undead_way_choose();
}

void undead_record_stop(void) {
  __atomic_store_n(&undead_record_mode, UNDEAD_RECORD_OFF, __ATOMIC_RELEASE);
  undead_backtrace_goes_on = false;
  undead_way_choose();
}

void undead_record_limit_addresses(uint64_t limit) {
  undead_release_boundaries();
  undead_pc_table_limit();
  undead_store_limit(limit);
}

void undead_record_after_fork_in_child(void) {
  undead_gate_open();
  undead_claims_forget();   // what the parent's checks said of its blocks, ours would not
  undead_sample_after_fork_in_child();
  undead_backtrace_after_fork_in_child();
}
