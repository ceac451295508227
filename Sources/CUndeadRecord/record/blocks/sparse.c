// What a scan needs of the registry of samples: words for all bytes, made before it and taken away after it.
#include "record/sparse.h"
#include "platform/processor/processor.h"
#include "record/mode.h"
#include "record/sample_table.h"
#include "unwind/store/store.h"
#include <string.h>
#include <sys/mman.h>

typedef struct {
  uint32_t none[UNDEAD_SPARSE_GENERATIONS];   // ids of blocks without a backtrace
} expansion;

static uint32_t word_of(const expansion *self, uintptr_t block, uint8_t byte) {
  uint32_t id = 0, own = byte & UNDEAD_SPARSE_OWN ? UNDEAD_WORD_OWN : 0;
  if (byte & UNDEAD_SPARSE_SAMPLED) id = undead_sample_id(block);
  if (!id) id = self->none[byte >> UNDEAD_SPARSE_GENERATION_SHIFT & (UNDEAD_SPARSE_GENERATIONS - 1)];
  return id | own;
}

static void expand_leaf(void *context, undead_leaf *leaf, uintptr_t base) {
  const expansion *self = context;
  for (uint64_t first = 0; first < sizeof leaf->sparse; first += 8) {
    if (!*(const undead_sparse_eight *)&leaf->sparse[first]) continue;
    uint8_t *touched = &leaf->touched[first * 2 >> UNDEAD_TOUCH_SHIFT];
    if (!*touched) *touched = UNDEAD_TOUCHED_LONG_AGO;
    for (uint64_t at = first; at < first + 8; at++) {
      uint8_t byte = leaf->sparse[at];
      if (!byte) continue;
      uintptr_t block = undead_sparse_block_at(base, at, byte);
      leaf->word[block >> 4 & (UNDEAD_LEAF_GRANULES - 1)] = word_of(self, block, byte);
    }
  }
}

// What was recorded in words until sampling began, and is alive.
static void adopt_leaf(void *unused, undead_leaf *leaf, uintptr_t base) {
  (void)unused;
  for (uint64_t granule = 0; granule < UNDEAD_LEAF_GRANULES; granule++) {
    if ((granule & ((1u << UNDEAD_TOUCH_SHIFT) - 1)) == 0 && !leaf->touched[granule >> UNDEAD_TOUCH_SHIFT]) {
      granule += (1u << UNDEAD_TOUCH_SHIFT) - 1;
      continue;
    }
    if (!leaf->word[granule]) continue;
    uintptr_t block = base + (granule << 4);
    uint8_t *byte = undead_sparse_at(leaf, block);
    uint8_t own = leaf->word[granule] & UNDEAD_WORD_OWN ? UNDEAD_SPARSE_OWN : 0;
    if (!*byte) *byte = (uint8_t)(undead_sparse_place(block) | own);
  }
}

static void clear_sparse_leaf(void *unused, undead_leaf *leaf, uintptr_t base) {
  (void)unused, (void)base;
  // The kernel gives zeros for what is let go, but not of locked memory.
  if (undead_raw3(SYS_madvise, (long)leaf->word, sizeof leaf->word, MADV_DONTNEED) != 0)
    for (uint64_t group = 0; group < sizeof leaf->touched; group++)
      if (leaf->touched[group])
        memset(&leaf->word[group << UNDEAD_TOUCH_SHIFT], 0, sizeof(uint32_t) << UNDEAD_TOUCH_SHIFT);
  memset(leaf->touched, 0, sizeof leaf->touched);
}

void undead_sparse_expand(void) {
  // Nobody else writes words, while that is so.
  if (!undead_sparse_used || undead_record_mode != UNDEAD_RECORD_SAMPLED) return;
  // A scan that was killed may have left its words.
  if (undead_sparse_expanded) undead_registry_each_leaf(clear_sparse_leaf, NULL);
  else undead_registry_each_leaf(adopt_leaf, NULL);
  expansion self;
  for (uint32_t i = 0; i < UNDEAD_SPARSE_GENERATIONS; i++) self.none[i] = undead_store_none_of(i);
  undead_sparse_expanded = true;
  undead_registry_each_leaf(expand_leaf, &self);
}

void undead_sparse_collapse(void) {
  if (!undead_sparse_expanded) return;
  undead_registry_each_leaf(clear_sparse_leaf, NULL);
  undead_sparse_expanded = false;
}

void undead_sparse_note_generation(uint32_t number) {
  if (number >= UNDEAD_SPARSE_GENERATIONS) number = UNDEAD_SPARSE_GENERATIONS - 1;
  undead_sparse_new = (uint8_t)((undead_sparse_new & UNDEAD_SPARSE_OWN) | number << UNDEAD_SPARSE_GENERATION_SHIFT);
}

