// One frame outwards, by what the thread's cache knows of its return address and of the store.
#pragma once
#include "unwind/capture/capture_x86_64.h"
#include "unwind/store/store.h"

#pragma GCC visibility push(hidden)

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define INLINE static inline __attribute__((always_inline))

// Cheap hashes for the small tables: what they distinguish is near to each other.
INLINE uint32_t near_hash(uintptr_t pc) {
  return (uint32_t)(pc ^ pc >> 9);
}

// Of four words together, mostly 0.
#define UNDEAD_CHECK_BLOCK 4u
INLINE uintptr_t difference_of_block(const undead_check *check) {
  return (*check[0].slot ^ check[0].value) | (*check[1].slot ^ check[1].value) | (*check[2].slot ^ check[2].value) |
         (*check[3].slot ^ check[3].value);
}

INLINE const undead_known_pc *know_pc(undead_unwind_cache *cache, uintptr_t pc) {
  undead_known_pc *known = &cache->pcs[near_hash(pc) & (UNDEAD_KNOWN_PCS - 1)];
  if (LIKELY(known->pc == pc)) return known;
  return undead_learn_pc(cache, known, pc);
}

INLINE undead_known_node known_node(uint32_t node) {
  return (undead_known_node){node, undead_store_first_link(node)};
}

// The node of a child of `parent`, which mostly follows the last one; 0 if the store is full.
INLINE uint32_t know_next_child(undead_known_node *parent, uint32_t pc_index) {
  uint32_t node = undead_store_linked(parent->link, pc_index);
  if (UNLIKELY(!node)) node = undead_store_child(parent->node, pc_index);
  if (LIKELY(node)) parent->link = undead_store_link_behind(node);
  return node;
}

// From a frame to its caller, by a plain rule; false if that leads out of the stack. What is read lies between the
// hook's own frame and the end of the stack: a rule relative to rbp has a small offset.
INLINE bool step(undead_frame *frame, undead_link *link, undead_rule rule, uintptr_t stack_high) {
  uintptr_t cfa = (rule & UNDEAD_RULE_BP ? frame->bp : frame->sp) + undead_rule_offset(rule);
  uintptr_t distance = cfa - frame->sp, saved = undead_rule_saved(rule);
  if (UNLIKELY((distance - 1 >= stack_high - frame->sp) | ((distance & 7) != 0))) return false;
  frame->pc = ((const uintptr_t *)cfa)[-1];
  frame->sp = cfa;
  link->bp_slot = NULL;
  link->sp_slot = 0;
  if (saved) {
    link->bp_slot = (const uintptr_t *)(cfa - saved);
    frame->bp = *link->bp_slot;
  }
  return true;
}

// False for a special rule, and for the one of address 0, which no function has.
INLINE bool is_plain(undead_rule rule) {
  return (rule & (UNDEAD_RULE_VALID | UNDEAD_RULE_SPECIAL)) == UNDEAD_RULE_VALID;
}

#pragma GCC visibility pop
