#include "scan/counts/counts.h"
#include "platform/memory/memory.h"
#include "scan/counts/tally.h"
#include <assert.h>

enum {
  // Of what stacks, frames of tasks and tails lead to, so much is looked at closely, and an eighth of what is alive: a program that
  // holds all it has by variables of its main function is not to pay for each object.
  LEAST_BUDGET = 1 << 14,
  MOST_ROUNDS = 8,   // then numbers count as references
};

typedef struct {
  undead_marker *marker;
  const undead_heap *heap;
  undead_bodies *bodies;
  undead_worklist named;   // blocks that weak evidence names, as they were listed
  uint64_t budget;         // how much more of what places name that may be out of use is explored
  undead_tally tally;      // of the blocks that only weak evidence reaches
} trial;

// Others own it.
static bool keep_listed(undead_marker *marker, uintptr_t block) {
  if (marker->kept) undead_worklist_push(marker->kept, block);
  return undead_mark_from(marker, block, UINT64_MAX);
}

// Finds what a listed block reaches. If it is too much, the block counts as alive.
static bool explore_one(trial *self, undead_marker *explorer, uintptr_t listed) {
  uintptr_t block = listed & ~(uintptr_t)UNDEAD_NAMED_BY_PLACE;
  uint32_t *word = undead_heap_word(self->heap, block);
  bool marked = *word & UNDEAD_WORD_MARK;
  *word &= marked ? ~UNDEAD_WORD_DOUBTED : ~(UNDEAD_WORD_DOUBTED | UNDEAD_WORD_DOUBTED_BY_PLACE);
  if (marked) return true;
  uint64_t before = explorer->blocks, limit = listed & UNDEAD_NAMED_BY_PLACE ? self->budget : UINT64_MAX;
  if (!undead_mark_from(explorer, block, limit)) {
    if (explorer->waiting.no_memory) return false;
    return keep_listed(self->marker, block);
  }
  if (listed & UNDEAD_NAMED_BY_PLACE) self->budget -= explorer->blocks - before;
  undead_worklist_push(&self->named, listed);
  return !self->named.no_memory;
}

// In order of the addresses, each once, by place if also so: this does not depend on what was found first.
static bool explore_listed(trial *self, undead_marker *explorer, undead_worklist *listed) {
  undead_address_set blocks;
  bool ok = undead_worklist_take(listed, &blocks);
  for (uint32_t i = 0; ok && i < blocks.count; i++) {
    bool last = i + 1 == blocks.count || (blocks.addresses[i] ^ blocks.addresses[i + 1]) > UNDEAD_NAMED_BY_PLACE;
    if (last) ok = explore_one(self, explorer, blocks.addresses[i]);
  }
  undead_address_set_close(&blocks);
  return ok;
}

static bool explore_all(trial *self) {
  undead_marker *explorer = undead_map(sizeof *explorer);
  if (!explorer) return false;
  *explorer = (undead_marker){.bodies = self->bodies, .heap = self->heap, .bit = UNDEAD_WORD_DOUBTED,
                              .except = UNDEAD_WORD_MARK, .weak = UNDEAD_WEAK_IS_IGNORED};
  undead_worklist listed = self->marker->doubted;
  self->marker->doubted = (undead_worklist){0};
  bool ok = explore_listed(self, explorer, &listed);
  undead_mark_close(explorer);
  undead_unmap(explorer, sizeof *explorer);
  return ok;
}

static bool list_blocks(trial *self) {
  // Blocks that were marked after they had been doubted are doubted no more.
  if (!undead_tally_open(&self->tally, self->bodies, UNDEAD_WORD_DOUBTED, UNDEAD_WORD_MARK)) return false;
  for (uintptr_t listed; (listed = undead_worklist_pop(&self->named));) {
    undead_tallied *tallied = undead_tally_find(&self->tally, listed & ~(uintptr_t)UNDEAD_NAMED_BY_PLACE);
    if (!tallied) continue;
    tallied->named = true;
    if (!self->marker->doubts_all) tallied->why |= listed & UNDEAD_NAMED_BY_PLACE ? UNDEAD_WHY_PLACE : UNDEAD_WHY_NUMBER;
  }
  return true;
}

static bool add_references(void *context, uintptr_t block, uint32_t *word) {
  trial *self = context;
  if (!(*word & UNDEAD_WORD_MARK)) undead_tally_add(&self->tally, block);
  return true;
}

static bool decide_round(undead_marker *marker, uint64_t budget) {
  trial self = {.marker = marker, .heap = marker->heap, .bodies = marker->bodies, .budget = budget};
  bool ok = explore_all(&self) && list_blocks(&self);
  const undead_tally *tally = &self.tally;
  if (ok && tally->count) {
    undead_heap_each(self.heap, add_references, &self);
    // The bit is free again for what numbers in living blocks turn out to name.
    for (uint32_t i = 0; i < tally->count; i++) *undead_heap_word(self.heap, tally->blocks[i].block) &= ~UNDEAD_WORD_DOUBTED;
    for (uint32_t i = 0; i < tally->count && ok; i++)
      if (!undead_tally_explains(tally, &tally->blocks[i])) ok = keep_listed(marker, tally->blocks[i].block);
    if (marker->reasons) undead_certainty_add(marker->reasons, tally);
  }
  undead_tally_close(&self.tally);
  undead_worklist_close(&self.named);
  return ok;
}

bool undead_counts_decide(undead_marker *marker) {
  uint64_t budget = marker->blocks / 8 + LEAST_BUDGET;
  bool ok = true;
  for (int round = 0; ok && undead_worklist_has(&marker->doubted); round++) {
    if (round == MOST_ROUNDS) marker->weak = UNDEAD_WEAK_IS_FOLLOWED;
    ok = decide_round(marker, budget);
  }
  return ok;
}
