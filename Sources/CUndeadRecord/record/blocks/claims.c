// Claims: the blocks that earlier checks called leaks, and how some of them turned out to be none.
//
//   slots[hash of the address] → index + 1 → claims[index]          two tables, of which one is current
//
// While there are claims, a free filter (record/free_filter.h) looks up each block that is freed. Without claims it is not there, so
// that the hooks take their short way. The check's thread fills the table that is not current and then makes it current. A hook may
// still read the other one: its memory stays mapped, and a claim is taken by a single exchange of its address. So the thread that frees a
// block takes its claim with it, and the next block at that address has none.
#include "record/claims.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "record/free_filter.h"
#include "record/way/hook_frame.h"
#include "record/gate.h"
#include "record/mode.h"
#include "unwind/backtrace.h"

enum { CLAIM_SLOTS = UNDEAD_MOST_CLAIMS * 2 };

typedef struct {
  bool used;      // slots may be set
  uint32_t count;
  uint32_t slots[CLAIM_SLOTS];
  undead_claim claims[UNDEAD_MOST_CLAIMS];
} claim_table;

static claim_table *tables[2];
static claim_table *volatile current;   // NULL: there are no claims
static undead_refutation *refutations;
static uint32_t refutation_count, checks;
static undead_claim_counts counts;

static uint32_t claim_slot_of(uintptr_t block) {
  enum { SLOT_BITS = 18 };
  _Static_assert(CLAIM_SLOTS == 1u << SLOT_BITS, "the hash has as many bits");
  return (uint32_t)(undead_spread(block >> 4) >> (64 - SLOT_BITS));
}

static undead_claim *claim_in(claim_table *table, uintptr_t block) {
  for (uint32_t slot = claim_slot_of(block), index; (index = table->slots[slot]); slot = (slot + 1) & (CLAIM_SLOTS - 1))
    if (__atomic_load_n(&table->claims[index - 1].block, __ATOMIC_RELAXED) == block) return &table->claims[index - 1];
  return NULL;
}

undead_claim *undead_claim_of(uintptr_t block) {
  claim_table *table = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
  return table && block ? claim_in(table, block) : NULL;
}

bool undead_claim_was_taken(uintptr_t block) {
  claim_table *table = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
  if (!table) return false;
  for (uint32_t slot = claim_slot_of(block), index; (index = table->slots[slot]); slot = (slot + 1) & (CLAIM_SLOTS - 1))
    if (table->claims[index - 1].address == block) return !__atomic_load_n(&table->claims[index - 1].block, __ATOMIC_ACQUIRE);
  return false;
}

undead_claim *undead_claims_list(uint32_t *count) {
  claim_table *table = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
  *count = table ? table->count : 0;
  return table ? table->claims : NULL;
}

// MARK: What was refuted

static void count_refutation(const undead_claim *claim, undead_refutation_kind how) {
  uint64_t *counter = claim->revivable ? &counts.revived : how == UNDEAD_REFUTED_NAMED ? &counts.named : &counts.refuted;
  __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

void undead_claim_refute(undead_claim *claim, undead_refutation_kind how, uint32_t end, const char *path) {
  count_refutation(claim, how);
  uint32_t index = __atomic_fetch_add(&refutation_count, 1, __ATOMIC_RELAXED);
  if (index >= UNDEAD_MOST_REFUTATIONS || !refutations) {
    __atomic_store_n(&refutation_count, UNDEAD_MOST_REFUTATIONS, __ATOMIC_RELAXED);
    return;
  }
  undead_refutation *refutation = &refutations[index];
  refutation->claim = *claim;
  refutation->how = how;
  refutation->end = end;
  refutation->check = checks + 1;
  for (size_t i = 0; path && path[i] && i + 1 < sizeof refutation->path; i++) refutation->path[i] = path[i];
  __atomic_store_n(&refutation->complete, true, __ATOMIC_RELEASE);
}

const undead_refutation *undead_claims_refutation(uint32_t index) {
  static const undead_refutation unwritten;
  if (index >= __atomic_load_n(&refutation_count, __ATOMIC_ACQUIRE) || index >= UNDEAD_MOST_REFUTATIONS) return NULL;
  return __atomic_load_n(&refutations[index].complete, __ATOMIC_ACQUIRE) ? &refutations[index] : &unwritten;
}

undead_claim_counts undead_claims_count(void) { return counts; }

bool undead_claim_take(undead_claim *claim, uintptr_t block) {
  return __atomic_compare_exchange_n(&claim->block, &block, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// MARK: While the program runs

// What another thread took at the same time is its own double free, and not ours to report.
static __attribute__((noinline)) void note_free(undead_claim *found, uintptr_t block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_claim claim = *found;
  claim.block = block;
  if (!undead_claim_take(found, block)) return;
  undead_hook_enter();
  bool traced = undead_record_mode >= UNDEAD_RECORD_BACKTRACES && undead_record_mode != UNDEAD_RECORD_SAMPLED;
  uint32_t end = traced ? undead_backtrace_capture(pc, sp, bp) : 0;
  undead_claim_refute(&claim, UNDEAD_REFUTED_FREED, end, NULL);
  undead_hook_leave();
}

static bool look_at_freed(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_claim *claim = undead_claim_of((uintptr_t)block);
  if (UNLIKELY(claim != NULL)) note_free(claim, (uintptr_t)block, pc, sp, bp);
  undead_free_filter_function next = undead_free_keeper;
  return next && next(block, pc, sp, bp);
}

// MARK: Between checks

static claim_table *spare_table(void) {
  claim_table *now = current;
  claim_table **spare = &tables[now && now == tables[0]];
  if (!*spare) *spare = undead_map(sizeof **spare);
  if (!refutations) refutations = undead_map(UNDEAD_MOST_REFUTATIONS * sizeof *refutations);
  return refutations ? *spare : NULL;
}

void undead_claim_died(uintptr_t block, uint32_t end) {
  undead_claim *found = undead_claim_of(block);
  if (LIKELY(!found)) return;
  undead_claim claim = *found;
  claim.block = block;
  if (undead_claim_take(found, block)) undead_claim_refute(&claim, UNDEAD_REFUTED_FREED, end, NULL);
}

bool undead_claims_set(undead_claim_filler fill, void *context) {
  claim_table *table = spare_table();
  if (!table) return false;
  // Only what was touched is written: most of the table never is.
  for (uint32_t i = 0; table->used && i < CLAIM_SLOTS; i++)
    if (table->slots[i]) table->slots[i] = 0;
  table->count = 0;
  table->used = true;
  uint32_t count = fill(context, table->claims, UNDEAD_MOST_CLAIMS);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t slot = claim_slot_of(table->claims[i].block);
    while (table->slots[slot]) slot = (slot + 1) & (CLAIM_SLOTS - 1);
    table->slots[slot] = i + 1;
  }
  table->count = count;
  __atomic_store_n(&current, count ? table : NULL, __ATOMIC_RELEASE);
  undead_free_filter_watch(count ? look_at_freed : NULL);
  return true;
}

void undead_claims_count_new(uint64_t claimed, uint64_t forgotten) {
  counts.claimed += claimed;
  counts.forgotten += forgotten;
}

uint32_t undead_claims_checks(void) { return checks; }
void undead_claims_next_check(void) { checks++; }

void undead_claims_forget(void) {
  __atomic_store_n(&current, NULL, __ATOMIC_RELEASE);
  undead_free_filter_watch(NULL);
  if (refutations) undead_clear_memory(refutations, UNDEAD_MOST_REFUTATIONS * sizeof *refutations);
  refutation_count = checks = 0;
  counts = (undead_claim_counts){0};
}
