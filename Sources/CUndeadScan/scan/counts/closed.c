// Finds the sets of objects that own each other and that only a doubtful frame names (counts.h has why they are no leaks). A
// bounded part of the blocks is looked at: beyond it no set is found.
#include "scan/counts/counts.h"
#include "platform/memory/memory.h"
#include "scan/bodies/references.h"
#include "scan/counts/tally.h"

enum {
  // More than an eighth of what is alive, and so much, is not looked at: a program may hold all it has by such frames.
  LEAST_CLOSED_BUDGET = 1 << 14,
  MOST_CLOSED_BLOCKS = 1 << 14,   // of the sets
};

typedef struct {
  undead_closed *closed;
  undead_marker *marker;
  undead_marker *alive;   // marks what others own, among the late blocks
  undead_tally tally;     // of the late blocks
} closed_search;

void undead_closed_prepare(undead_closed *closed, undead_marker *marker) {
  marker->late = UNDEAD_WORD_LATE;
  marker->kept = &closed->kept;
}

void undead_closed_close(undead_closed *closed) {
  if (closed->blocks) undead_unmap(closed->blocks, (closed->capacity + 1ull) * sizeof *closed->blocks);
  undead_worklist_close(&closed->kept);
  *closed = (undead_closed){0};
}

static bool add_closed_references(void *context, uintptr_t block, uint32_t *word) {
  closed_search *self = context;
  if (!(*word & UNDEAD_WORD_MARK) || *word & UNDEAD_WORD_LATE) undead_tally_add(&self->tally, block);
  return true;
}

static void note_named(void *context, const undead_reference *reference) {
  closed_search *self = context;
  uintptr_t block = undead_heap_block(self->marker->heap, reference->address);
  undead_tallied *tallied = block ? undead_tally_find(&self->tally, block) : NULL;
  if (tallied) tallied->named = true;
}

static void note_doubtful(closed_search *self, const undead_roots *roots) {
  for (uint32_t i = 0; i < roots->count; i++)
    if (roots->roots[i].doubtful) undead_visit_root(self->marker->heap, &roots->roots[i], note_named, self);
}

// Marks what others than the frames own, and all that it reaches.
static bool mark_alive(closed_search *self) {
  bool ok = true;
  for (uintptr_t block; ok && (block = undead_worklist_pop(&self->closed->kept));)
    ok = undead_mark_from(self->alive, block, UINT64_MAX);
  for (uint32_t i = 0; ok && i < self->tally.count; i++) {
    const undead_tallied *tallied = &self->tally.blocks[i];
    if (!undead_tally_explains(&self->tally, tallied)) ok = undead_mark_from(self->alive, tallied->block, UINT64_MAX);
  }
  return ok;
}

static bool list_closed_blocks(closed_search *self) {
  undead_closed *closed = self->closed;
  closed->capacity = self->tally.count - (uint32_t)self->alive->blocks;
  if (closed->capacity > MOST_CLOSED_BLOCKS) closed->capacity = 0;
  closed->blocks = undead_map((closed->capacity + 1ull) * sizeof *closed->blocks);
  if (!closed->blocks) return false;
  for (uint32_t i = 0; i < self->tally.count && closed->count < closed->capacity; i++) {
    const undead_tallied *tallied = &self->tally.blocks[i];
    if (*undead_heap_word(self->marker->heap, tallied->block) & UNDEAD_WORD_MARK_AGAIN) continue;
    closed->blocks[closed->count++] = (undead_closed_block){tallied->block, tallied->named};
  }
  return true;
}

static bool search_closed(closed_search *self, const undead_roots *roots) {
  const undead_heap *heap = self->marker->heap;
  if (!undead_tally_open(&self->tally, self->marker->bodies, UNDEAD_WORD_LATE, 0)) return false;
  undead_heap_each(heap, add_closed_references, self);
  note_doubtful(self, roots);
  bool ok = mark_alive(self) && list_closed_blocks(self);
  for (uint32_t i = 0; i < self->tally.count; i++)
    *undead_heap_word(heap, self->tally.blocks[i].block) &= ~(UNDEAD_WORD_LATE | UNDEAD_WORD_MARK_AGAIN);
  undead_tally_close(&self->tally);
  return ok;
}

bool undead_closed_find(undead_closed *closed, undead_marker *marker, const undead_roots *roots) {
  closed_search self = {.closed = closed, .marker = marker};
  if (!marker->doubtful_blocks) return true;
  // Numbers that were followed like references, after many rounds, would have to be followed here, too.
  if (marker->doubtful_blocks > marker->blocks / 8 + LEAST_CLOSED_BUDGET || marker->weak == UNDEAD_WEAK_IS_FOLLOWED) {
    undead_heap_clear(marker->heap, UNDEAD_WORD_LATE);
    return true;
  }
  self.alive = undead_map(sizeof *self.alive);
  if (!self.alive) return false;
  *self.alive = (undead_marker){.bodies = marker->bodies, .heap = marker->heap, .bit = UNDEAD_WORD_MARK_AGAIN,
                                .within = UNDEAD_WORD_LATE, .weak = UNDEAD_WEAK_IS_IGNORED};
  bool ok = search_closed(&self, roots);
  undead_mark_close(self.alive);
  undead_unmap(self.alive, sizeof *self.alive);
  return ok;
}
