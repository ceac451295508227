// Most objects are of plain classes: what there is to look at stands in a few words for each class. The words are those that
// undead_walk_body visits for such an object, in the same order, and no others.
#pragma once
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/bodies/references.h"
#include "platform/memory/spread.h"

#define UNDEAD_PLAIN_WORDS 64u

void undead_plan_make(undead_plan *plan, undead_bodies *bodies, uintptr_t isa);
// Whether a block that begins like an object of a class, and has a plain count, is one.
static inline bool undead_plan_holds(undead_bodies *bodies, uintptr_t block) {
  uint32_t backtrace = *undead_heap_word(bodies->heap, block) & UNDEAD_WORD_BACKTRACE;
  return !bodies->makers || !undead_is_made_raw(bodies->makers, backtrace);
}
// Whether a block like that may be memory of the program, with words that the type would have looked past.
static inline bool undead_plan_is_unsure(const undead_plan *plan, const undead_bodies *bodies, uintptr_t block) {
  if (!plan->counted || !plan->has_weak) return false;
  return !undead_knows_maker(bodies->makers, *undead_heap_word(bodies->heap, block) & UNDEAD_WORD_BACKTRACE);
}

// The plan for the object at `block`; NULL if it is no object, or not plain, or if that takes a closer look.
static inline const undead_plan *undead_plain_plan(undead_bodies *bodies, uintptr_t block, size_t size) {
  if (size < ABI_OBJECT_HEADER || size > UNDEAD_PLAIN_WORDS * 8) return NULL;
  uintptr_t isa = word_at(block);
  undead_plan *plan = &bodies->plans[undead_spread(isa >> 3) >> 32 & (UNDEAD_PLAN_CACHE - 1)];
  if (__builtin_expect(plan->isa != isa, 0)) undead_plan_make(plan, bodies, isa);
  if (!plan->plain) return NULL;
  if (!plan->counted) return plan;
  // Not a side table's address, and a living object's unowned count.
  uint64_t refcount = word_at(block + ABI_OBJECT_REFCOUNT);
  if (refcount >> 62 == 3 || !(refcount & 1) || !(refcount & 0xFFFFFFFEu)) return NULL;
  if (undead_plan_is_unsure(plan, bodies, block)) return NULL;
  return undead_plan_holds(bodies, block) ? plan : NULL;
}

typedef struct {
  uint64_t all, references, straddling;
} undead_plain_words;

static inline undead_plain_words undead_plain_words_of(const undead_plan *plan, size_t size) {
  uint64_t there = size / 8 == 64 ? ~0ull : (1ull << size / 8) - 1;
  uint64_t behind = plan->word_count == 64 ? 0 : ~0ull << plan->word_count;   // nothing is known of them
  uint64_t references = plan->references & there, untyped = (plan->untyped | behind) & there & ~3ull;
  uint64_t straddling = (plan->straddling | behind) & there >> 1 & untyped;
  return (undead_plain_words){references | untyped, references, straddling};
}

// What undead_walk_body visits of the object. Of words with a grade that is for tables it says COUNTED: undead_body_evidence
// tells.
UNDEAD_WALK undead_walk_plain(const undead_heap *heap, uintptr_t block, size_t size, const undead_plan *plan,
                              undead_reference_visitor visit, void *context) {
  undead_plain_words words = undead_plain_words_of(plan, size);
  for (uint64_t left = words.all; left; left &= left - 1) {
    unsigned index = (unsigned)__builtin_ctzll(left);
    uintptr_t at = block + index * 8, value = word_at(at);
    bool straddles = words.straddling >> index & 1;
    if (value == 0 && !straddles && plan->zero_is_nothing) continue;
    undead_evidence evidence = index < plan->word_count ? (undead_evidence)plan->words[index] : UNDEAD_EVIDENCE_RAW;
    if (words.references >> index & 1) undead_walk_word(heap, at, UNDEAD_EVIDENCE_COUNTED, visit, context);
    else undead_walk_word(heap, at, evidence, visit, context);
    if (straddles) undead_walk_straddling(heap, at, evidence, visit, context);
  }
}
