#include "scan/counts.h"
#include "platform/memory.h"
#include "runtime/abi.h"
#include "scan/address_index.h"
#include "scan/references.h"
#include <assert.h>

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
  undead_worklist waiting, named;
  doubted_block *blocks;   // ascending
  uint32_t count, capacity;
  undead_address_index index;
} trial;

static uint64_t word_at(uintptr_t address) { return *(const uint64_t *)address; }

static void walk(trial *self, uintptr_t block, undead_reference_visitor visit) {
  undead_body body;
  undead_body_of(self->bodies, block, undead_block_size(block), &body);
  self->body = &body;
  undead_walk_body(self->heap, block, &body, false, visit, self);
}

static void doubt(void *context, const undead_reference *reference) {
  trial *self = context;
  uintptr_t block = undead_heap_block(self->heap, reference->address);
  if (!block || *undead_heap_word(self->heap, block) & UNDEAD_WORD_MARK) return;
  uint32_t *word = undead_heap_word(self->heap, block);
  if (reference->evidence == UNDEAD_EVIDENCE_NUMBER) undead_worklist_push(&self->named, block);
  if (*word & UNDEAD_WORD_DOUBTED) return;
  *word |= UNDEAD_WORD_DOUBTED;
  undead_worklist_push(&self->waiting, block);
}

// Finds all that the doubted blocks reach, and fills `named`. Some were marked after they had been doubted.
static bool reach_doubted(trial *self, undead_worklist *doubted) {
  for (uintptr_t block; (block = undead_worklist_pop(doubted));) {
    uint32_t *word = undead_heap_word(self->heap, block);
    if (*word & UNDEAD_WORD_MARK) *word &= ~UNDEAD_WORD_DOUBTED;
    else undead_worklist_push(&self->named, block);
    if (!(*word & UNDEAD_WORD_MARK)) undead_worklist_push(&self->waiting, block);
  }
  for (uintptr_t block; (block = undead_worklist_pop(&self->waiting));) walk(self, block, doubt);
  return !self->named.no_memory && !self->waiting.no_memory;
}

static bool count_doubted(void *context, uintptr_t block, uint32_t *word) {
  (void)block;
  trial *self = context;
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
  undead_heap_each(self->heap, list_doubted, self);
  if (!undead_address_index_open(&self->index, self->blocks, sizeof *self->blocks, self->count)) return false;
  for (uintptr_t block; (block = undead_worklist_pop(&self->named));)
    self->blocks[undead_address_index_of(&self->index, block)].named = true;
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

static bool count_references(void *context, uintptr_t block, uint32_t *word) {
  trial *self = context;
  if (!(*word & UNDEAD_WORD_MARK)) walk(self, block, count_reference);
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

static void close_trial(trial *self) {
  for (uint32_t i = 0; i < self->count; i++) *undead_heap_word(self->heap, self->blocks[i].block) &= ~UNDEAD_WORD_DOUBTED;
  undead_address_index_close(&self->index);
  if (self->blocks) undead_unmap(self->blocks, (self->capacity + 1ull) * sizeof *self->blocks);
  undead_worklist_close(&self->waiting);
  undead_worklist_close(&self->named);
}

bool undead_counts_decide(undead_marker *marker, undead_worklist *doubted) {
  trial self = {.marker = marker, .heap = marker->heap, .bodies = marker->bodies};
  bool ok = reach_doubted(&self, doubted) && list_blocks(&self);
  if (ok && self.count) {
    undead_heap_each(self.heap, count_references, &self);
    for (uint32_t i = 0; i < self.count && ok; i++)
      if (!is_explained(&self, &self.blocks[i])) ok = undead_mark_from(marker, self.blocks[i].block);
  }
  close_trial(&self);
  return ok;
}
