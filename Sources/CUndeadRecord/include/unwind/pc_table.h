// Every return address that was ever seen, with its unwind rule. Entries are never removed; reads take no lock.
#pragma once
#include "unwind/rule_x86_64.h"
#include "platform/memory/spread.h"

#pragma GCC visibility push(hidden)

typedef struct {
  uintptr_t pc;
  undead_rule rule;   // 0: not computed yet, or forgotten
} undead_pc_entry;

// Three hash tables one behind the other: the first is small, so that few pages are touched; a table that is half
// full sends new addresses to the next.
#define UNDEAD_PC_FIRST_BITS 13
#define UNDEAD_PC_SECOND_BITS 16
#define UNDEAD_PC_THIRD_BITS 20
#define UNDEAD_PC_NONE 0xFFFFFFFFu

extern undead_pc_entry *undead_pcs;

// Counts how often rules were forgotten, or a generation began, in steps of UNDEAD_EPOCH_STEP.
extern uint32_t undead_rules_epoch;

static inline __attribute__((always_inline)) uint64_t undead_pc_hash(uintptr_t pc) {
  return undead_spread(pc);
}

uint32_t undead_pc_find_slow(uintptr_t pc, undead_rule *rule);

// The index of `pc`, added if new, and its rule; UNDEAD_PC_NONE if there is no room. `pc` is a return address: the
// rule is that of the instruction before it. Needs undead_pcs.
static inline __attribute__((always_inline)) uint32_t undead_pc_find(uintptr_t pc, undead_rule *rule) {
  uint32_t index = (uint32_t)(undead_pc_hash(pc) >> (64 - UNDEAD_PC_FIRST_BITS));
  undead_pc_entry *entry = &undead_pcs[index];
  undead_rule known = __atomic_load_n(&entry->rule, __ATOMIC_ACQUIRE);
  if (__builtin_expect(entry->pc == pc && known != 0, 1)) {
    *rule = known;
    return index;
  }
  return undead_pc_find_slow(pc, rule);
}

// A return address into an image that is gone: another one may have come to its place. It is kept with this bit, and so
// lies in no image.
#define UNDEAD_PC_RETIRED (1ull << 63)
void undead_pc_table_retire(uintptr_t low, uintptr_t high);

// Notes that nothing leads further from this return address, if its rule is not known.
void undead_pc_note_end(uint32_t index);

// Maps the table; false without memory. Any thread, any number of times.
bool undead_pc_table_prepare(void);
// Gives back addresses that are only reserved, as undead_store_limit does.
void undead_pc_table_limit(void);
void undead_pc_table_forget_rules(void);
// Forgets all. Not while anybody captures.
void undead_pc_table_clear(void);
uint64_t undead_pc_table_bytes(void);

#pragma GCC visibility pop
