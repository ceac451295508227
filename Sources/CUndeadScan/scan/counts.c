#include "scan/counts.h"
#include "platform/memory.h"
#include "platform/words.h"
#include "runtime/abi.h"
#include "scan/address_index.h"
#include "scan/references.h"
#include <assert.h>

enum {
  // Of what stacks, frames of tasks and tails lead to, so much is looked at closely, and an eighth of what is alive: a program that
  // holds all it has by variables of its main function is not to pay for each object.
  LEAST_BUDGET = 1 << 14,
  MOST_ROUNDS = 8,   // then numbers count as references
};

// A block that only weak evidence reaches.
typedef struct {
  uintptr_t block;
  uint32_t counted;    // counted references from blocks that are not marked
  bool named;          // weak evidence names it itself
} doubted_block;

typedef struct {
  undead_marker *marker;
  const undead_heap *heap;
  undead_bodies *bodies;
  const undead_body *body;   // whose words are looked at
  undead_worklist named;   // blocks that weak evidence names
  uint64_t budget;         // how much more of what places name that may be out of use is explored
  doubted_block *blocks;   // ascending
  uint32_t count, capacity;
  undead_address_index index;
} trial;

static void walk(trial *self, uintptr_t block, undead_reference_visitor visit) {
  undead_body body;
  undead_body_of(self->bodies, block, undead_block_size(block), &body);
  self->body = &body;
  undead_walk_body(self->heap, block, &body, false, visit, self);
}

// Finds what a listed block reaches. If it is too much, the block counts as alive.
static bool explore(trial *self, undead_marker *explorer, uintptr_t listed) {
  uintptr_t block = listed & ~(uintptr_t)UNDEAD_NAMED_BY_PLACE;
  uint32_t *word = undead_heap_word(self->heap, block);
  *word &= ~UNDEAD_WORD_DOUBTED;
  if (*word & UNDEAD_WORD_MARK) return true;
  uint64_t before = explorer->blocks, limit = listed & UNDEAD_NAMED_BY_PLACE ? self->budget : UINT64_MAX;
  if (!undead_mark_from(explorer, block, limit)) {
    if (explorer->waiting.no_memory) return false;
    return undead_mark_from(self->marker, block, UINT64_MAX);
  }
  if (listed & UNDEAD_NAMED_BY_PLACE) self->budget -= explorer->blocks - before;
  undead_worklist_push(&self->named, block);
  return !self->named.no_memory;
}

static bool explore_all(trial *self) {
  undead_marker *explorer = undead_map(sizeof *explorer);
  if (!explorer) return false;
  *explorer = (undead_marker){.bodies = self->bodies, .heap = self->heap, .bit = UNDEAD_WORD_DOUBTED,
                              .except = UNDEAD_WORD_MARK, .weak = UNDEAD_WEAK_IS_IGNORED};
  undead_worklist listed = self->marker->doubted;
  self->marker->doubted = (undead_worklist){0};
  bool ok = true;
  for (uintptr_t next; ok && (next = undead_worklist_pop(&listed));) ok = explore(self, explorer, next);
  undead_worklist_close(&listed);
  undead_mark_close(explorer);
  undead_unmap(explorer, sizeof *explorer);
  return ok;
}

// Blocks that were marked after they had been doubted are doubted no more.
static bool count_doubted(void *context, uintptr_t block, uint32_t *word) {
  (void)block;
  trial *self = context;
  if (*word & UNDEAD_WORD_MARK) *word &= ~UNDEAD_WORD_DOUBTED;
  self->count += (*word & UNDEAD_WORD_DOUBTED) != 0;
  return true;
}

static bool list_doubted(void *context, uintptr_t block, uint32_t *word) {
  trial *self = context;
  if (*word & UNDEAD_WORD_DOUBTED) self->blocks[self->count++].block = block;
  return true;
}

static bool list_blocks(trial *self) {
  undead_heap_each(self->heap, count_doubted, self);
  self->capacity = self->count;
  self->blocks = undead_map((self->capacity + 1ull) * sizeof *self->blocks);
  if (!self->blocks) return false;
  self->count = 0;
  if (self->capacity) undead_heap_each(self->heap, list_doubted, self);
  if (!undead_address_index_open(&self->index, self->blocks, sizeof *self->blocks, self->count)) return false;
  for (uintptr_t block; (block = undead_worklist_pop(&self->named));) {
    uint32_t index = undead_address_index_of(&self->index, block);
    if (index != UINT32_MAX) self->blocks[index].named = true;
  }
  return true;
}

static void count_reference(void *context, const undead_reference *reference) {
  trial *self = context;
  if (reference->evidence == UNDEAD_EVIDENCE_RAW || reference->evidence == UNDEAD_EVIDENCE_NUMBER) return;
  uintptr_t block = undead_heap_block(self->heap, reference->address);
  if (!block || block != reference->address || !(*undead_heap_word(self->heap, block) & UNDEAD_WORD_DOUBTED)) return;
  if (undead_body_evidence(self->body, reference->at) != UNDEAD_EVIDENCE_COUNTED) return;
  uint32_t index = undead_address_index_of(&self->index, block);
  if (index != UINT32_MAX) self->blocks[index].counted++;
}

// What died owns nothing, though its fields still name what they held: unowned references keep its memory.
static bool is_dead(const trial *self, uintptr_t block) {
  return undead_block_layout(self->bodies, block, undead_block_size(block)) && undead_is_deiniting(self->heap, block);
}

static bool count_references(void *context, uintptr_t block, uint32_t *word) {
  trial *self = context;
  if (!(*word & UNDEAD_WORD_MARK) && !is_dead(self, block)) walk(self, block, count_reference);
  return true;
}

#define UNCERTAIN UINT64_MAX

// The strong references that a plain reference count stands for; UNCERTAIN if it does not say that for good: side tables, immortal
// objects, deinits under way, unowned references (a load of one may yet make it a strong one).
static uint64_t strong_count(uint64_t refcount) {
  if (refcount >> 63 || (uint32_t)refcount == UINT32_MAX || refcount & ABI_REFCOUNT_DEINITING) return UNCERTAIN;
  if ((refcount >> ABI_REFCOUNT_UNOWNED_SHIFT & ABI_REFCOUNT_UNOWNED_MASK) != 1 || !(refcount & 1)) return UNCERTAIN;
  return (refcount >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK) + 1;
}

static bool is_counted_kind(undead_kind kind) {
  return kind == UNDEAD_KIND_CLASS || kind == UNDEAD_KIND_CONTEXT || kind == UNDEAD_KIND_GENERIC_BOX
    || kind == UNDEAD_KIND_ERROR;
}

// Whether garbage alone explains that the block is still there.
static bool is_explained(trial *self, const doubted_block *doubted) {
  size_t size = undead_block_size(doubted->block);
  undead_kind kind = undead_body_kind(self->bodies, doubted->block, size);
  // Memory without a count is explained by whatever refers to it, but not by a number.
  if (!is_counted_kind(kind)) return kind == UNDEAD_KIND_OTHER && !doubted->named;
  return strong_count(word_at(doubted->block + ABI_OBJECT_REFCOUNT)) == doubted->counted;
}

static bool decide_round(undead_marker *marker, uint64_t budget) {
  trial self = {.marker = marker, .heap = marker->heap, .bodies = marker->bodies, .budget = budget};
  bool ok = explore_all(&self) && list_blocks(&self);
  if (ok && self.count) {
    undead_heap_each(self.heap, count_references, &self);
    // The bit is free again for what numbers in living blocks turn out to name.
    for (uint32_t i = 0; i < self.count; i++) *undead_heap_word(self.heap, self.blocks[i].block) &= ~UNDEAD_WORD_DOUBTED;
    for (uint32_t i = 0; i < self.count && ok; i++)
      if (!is_explained(&self, &self.blocks[i])) ok = undead_mark_from(marker, self.blocks[i].block, UINT64_MAX);
  }
  undead_address_index_close(&self.index);
  if (self.blocks) undead_unmap(self.blocks, (self.capacity + 1ull) * sizeof *self.blocks);
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
