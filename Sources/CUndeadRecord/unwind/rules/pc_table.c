#include "unwind/pc_table.h"
#include "platform/memory/own_data.h"
#include "platform/memory/reserve.h"

undead_pc_entry *undead_pcs;
uint32_t undead_rules_epoch;

enum { TIERS = 3 };
static const uint8_t tier_bits[TIERS] = {UNDEAD_PC_FIRST_BITS, UNDEAD_PC_SECOND_BITS, UNDEAD_PC_THIRD_BITS};
static const uint32_t tier_start[TIERS] = {
    0, 1u << UNDEAD_PC_FIRST_BITS, (1u << UNDEAD_PC_FIRST_BITS) + (1u << UNDEAD_PC_SECOND_BITS)};
static uint32_t tier_used[TIERS];

static undead_reserve reserve;

// Bytes of the table up to the end of a tier. The last tier is large, and few programs need it.
static size_t end_of(int tier) { return (tier_start[tier] + (1ull << tier_bits[tier])) * sizeof(undead_pc_entry); }

bool undead_pc_table_prepare(void) {
  if (__atomic_load_n(&undead_pcs, __ATOMIC_ACQUIRE)) return true;
  if (!undead_reserve_open(&reserve, end_of(TIERS - 1), end_of(1))) return false;
  if (!undead_reserve_grow(&reserve, end_of(1))) return false;
  __atomic_store_n(&undead_pcs, (undead_pc_entry *)reserve.base, __ATOMIC_RELEASE);
  return true;
}

void undead_pc_table_limit(void) { undead_reserve_trim(&reserve, 0); }

// The entry of `pc` in one table, claimed if it is not there; UNDEAD_PC_NONE if the table takes no more.
static uint32_t find_in_tier(int tier, uintptr_t pc) {
  uint32_t size = 1u << tier_bits[tier], start = tier_start[tier];
  if (!undead_reserve_grow(&reserve, end_of(tier))) return UNDEAD_PC_NONE;
  uint32_t at = (uint32_t)(undead_pc_hash(pc) >> (64 - tier_bits[tier]));
  for (;; at = (at + 1) & (size - 1)) {
    uintptr_t *slot = &undead_pcs[start + at].pc;
    uintptr_t found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (found == pc) return start + at;
    if (found) continue;
    if (__atomic_load_n(&tier_used[tier], __ATOMIC_RELAXED) >= size / 2) return UNDEAD_PC_NONE;
    if (__atomic_compare_exchange_n(slot, &found, pc, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      __atomic_fetch_add(&tier_used[tier], 1, __ATOMIC_RELAXED);
      return start + at;
    }
    if (found == pc) return start + at;
  }
}

uint32_t undead_pc_find_slow(uintptr_t pc, undead_rule *rule) {
  for (int tier = 0; tier < TIERS; tier++) {
    uint32_t index = find_in_tier(tier, pc);
    if (index == UNDEAD_PC_NONE) continue;
    *rule = __atomic_load_n(&undead_pcs[index].rule, __ATOMIC_ACQUIRE);
    if (!*rule) {
      *rule = undead_rule_compute(pc - 1);
      __atomic_store_n(&undead_pcs[index].rule, *rule, __ATOMIC_RELEASE);
    }
    return index;
  }
  return UNDEAD_PC_NONE;
}

void undead_pc_note_end(uint32_t index) {
  undead_rule known = __atomic_load_n(&undead_pcs[index].rule, __ATOMIC_ACQUIRE);
  undead_rule end = undead_rule_make(UNDEAD_RULE_SPECIAL | (known & UNDEAD_RULE_LOADER), 0, UNDEAD_RULE_END);
  if (undead_rule_kind(known) != UNDEAD_RULE_UNKNOWN) return;
  __atomic_compare_exchange_n(&undead_pcs[index].rule, &known, end, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// Calls `change` for every entry, with the range.
static void change_all(void (*change)(undead_pc_entry *entry, uintptr_t low, uintptr_t high), uintptr_t low,
                       uintptr_t high) {
  if (!undead_pcs) return;
  for (int tier = 0; tier < TIERS; tier++) {
    if (!__atomic_load_n(&tier_used[tier], __ATOMIC_RELAXED)) return;
    for (uint32_t at = 0; at < 1u << tier_bits[tier]; at++) {
      undead_pc_entry *entry = &undead_pcs[tier_start[tier] + at];
      if (entry->pc) change(entry, low, high);
    }
  }
}

static void forget_rule(undead_pc_entry *entry, uintptr_t low, uintptr_t high) {
  (void)low, (void)high;
  __atomic_store_n(&entry->rule, 0, __ATOMIC_RELEASE);
}

// The place in the table stays taken: others may have gone past it.
static void retire(undead_pc_entry *entry, uintptr_t low, uintptr_t high) {
  // Behind a call, which may be the last instruction of the image.
  if (entry->pc > low && entry->pc <= high) __atomic_or_fetch(&entry->pc, UNDEAD_PC_RETIRED, __ATOMIC_RELEASE);
}

void undead_pc_table_forget_rules(void) { change_all(forget_rule, 0, 0); }
void undead_pc_table_retire(uintptr_t low, uintptr_t high) { change_all(retire, low, high); }

void undead_pc_table_clear(void) {
  undead_reserve_clear(&reserve);
  for (int tier = 0; tier < TIERS; tier++) __atomic_store_n(&tier_used[tier], 0, __ATOMIC_RELEASE);
}

uint64_t undead_pc_table_bytes(void) {
  uint64_t used = 0;
  for (int tier = 0; tier < TIERS; tier++) used += __atomic_load_n(&tier_used[tier], __ATOMIC_RELAXED);
  return used * sizeof(undead_pc_entry);
}
