// A thread that changes a collection has it in its frames (held.c). A fiber that was switched out has it in frames on a stack of
// the program's own, which looks like any memory. To look for such stacks costs as much as marking, so it is done backwards:
//
//   blocks that are not marked ← elements behind the count of some storage ← words with a return address beside them
//
// Mostly nothing is left after the second step. Who calls: analysis.c, after the roots and before the counts decide.
#include "scan/mark/mark.h"
#include "platform/maps/maps.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "scan/stacks/contexts.h"
#include "scan/bodies/held.h"
#include "scan/bodies/references.h"

// In a stack the next return address is no further away than this from what a frame holds.
#define NEAR_BYTES (64u << 10)
#define LEAST_BYTES 64u   // of a block with saved registers

typedef struct {
  undead_marker *marker;
  undead_worklist listed;
  undead_address_set storages;   // whose elements behind the count name what is not marked
  bool names_unmarked;           // of the one that is looked at
} switched_search;

static bool stop_at_unmarked(void *context, uintptr_t block, uint32_t *word) {
  (void)block, (void)word;
  *(bool *)context = true;
  return false;
}

static bool has_unmarked(const undead_heap *heap) {
  bool found = false;
  undead_heap_each_unmarked(heap, stop_at_unmarked, &found);
  return found;
}

static void note_unmarked(void *context, const undead_reference *reference) {
  switched_search *self = context;
  uintptr_t block = undead_heap_block(self->marker->heap, reference->address);
  if (block && !(*undead_heap_word(self->marker->heap, block) & UNDEAD_WORD_MARK)) self->names_unmarked = true;
}

static bool list_storage(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  switched_search *self = context;
  undead_bodies *bodies = self->marker->bodies;
  const undead_layout *layout = undead_body_layout(bodies, word_at(block));
  if (!layout || (layout->storage != UNDEAD_STORAGE_ARRAY && layout->storage != UNDEAD_STORAGE_RING)) return true;
  size_t size = undead_heap_block_size(self->marker->heap, block) & ~(size_t)7;
  uintptr_t loose = (undead_elements_loose_from(layout, block, size) + 7) & ~(uintptr_t)7, end = block + size;
  if (loose >= end || !undead_block_layout(bodies, block, size) || undead_is_held(bodies, block)) return true;
  self->names_unmarked = false;
  undead_walk_bytes(self->marker->heap, loose, end, UNDEAD_EVIDENCE_PERHAPS, note_unmarked, self);
  if (self->names_unmarked) undead_worklist_push(&self->listed, block);
  return true;
}

static bool list_storages(switched_search *self) {
  undead_heap_each_head(self->marker->heap, list_storage, self);
  return undead_worklist_take(&self->listed, &self->storages);
}

// Whether a call is to return to an address in this memory, or one that setjmp() hid.
static bool has_return_address(const undead_heap *heap, uintptr_t low, uintptr_t high) {
  enum { ROTATION = UNDEAD_POINTER_ROTATION };
  for (uintptr_t at = low; at < high; at += 8) {
    uintptr_t word = word_at(at), hidden = (word >> ROTATION | word << (64 - ROTATION) % 64) ^ heap->pointer_guard;
    if (undead_is_return_address(word) || undead_is_return_address(hidden)) return true;
  }
  return false;
}

static void look_for_frames(switched_search *self, uintptr_t low, uintptr_t high) {
  const undead_address_set *storages = &self->storages;
  low = (low + 7) & ~(uintptr_t)7;
  high &= ~(uintptr_t)7;
  for (uintptr_t at = low; at < high; at += 8) {
    uintptr_t word = word_at(at) & UNDEAD_POINTER_MASK;
    if (word < storages->addresses[0] || word > storages->addresses[storages->count - 1]) continue;
    if (!undead_address_set_has(storages, word)) continue;
    uintptr_t from = at - low > NEAR_BYTES ? at - NEAR_BYTES : low, to = high - at > NEAR_BYTES ? at + NEAR_BYTES : high;
    if (has_return_address(self->marker->heap, from, to)) undead_hold(self->marker->bodies, word);
  }
}

static bool look_into_block(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  switched_search *self = context;
  size_t size = undead_heap_block_size(self->marker->heap, block);
  if (size >= LEAST_BYTES) look_for_frames(self, block, block + size);
  return true;
}

static void look_into_all(switched_search *self, const undead_roots *roots) {
  for (uint32_t i = 0; i < roots->count; i++)
    if (roots->roots[i].kind == UNDEAD_ROOT_GLOBAL) look_for_frames(self, roots->roots[i].low, roots->roots[i].high);
  undead_heap_each(self->marker->heap, look_into_block, self);
}

bool undead_switched_doubt(undead_marker *marker, const undead_roots *roots) {
  switched_search self = {.marker = marker};
  if (!has_unmarked(marker->heap)) return true;
  bool ok = list_storages(&self);
  const undead_address_set *storages = &self.storages;
  if (ok && storages->count) {
    look_into_all(&self, roots);
    undead_held_sort(marker->bodies);
    for (uint32_t i = 0; i < storages->count; i++) {
      uintptr_t storage = storages->addresses[i];
      bool marked = *undead_heap_word(marker->heap, storage) & UNDEAD_WORD_MARK;
      if (marked && undead_is_held(marker->bodies, storage)) undead_mark_again(marker, storage);
    }
  }
  undead_address_set_close(&self.storages);
  return ok;
}
