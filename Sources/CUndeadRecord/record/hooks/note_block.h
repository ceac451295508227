// What the hooks note of a block, inline.
#pragma once
#include "record/way/hook_frame.h"
#include "record/hooks/new_block.h"
#include "record/registry.h"
#include "record/sample.h"
#include "record/sparse.h"
#include "unwind/walk_x86_64.h"

// What malloc hands out lies in the lower half; of what it is given back by mistake only a part of the address counts.
UNDEAD_INLINE undead_leaf *leaf_of(const void *block) {
  uintptr_t index = (uintptr_t)block >> UNDEAD_LEAF_SHIFT & (UNDEAD_LEAF_COUNT - 1);
  return __atomic_load_n(&undead_leaves[index], __ATOMIC_ACQUIRE);
}

UNDEAD_INLINE void set_word(void *block, uint32_t word) {
  undead_leaf *leaf = leaf_of(block);
  if (UNLIKELY(!leaf) && !(leaf = undead_registry_leaf_slow((uintptr_t)block))) return;
  uintptr_t granule = (uintptr_t)block >> 4 & (UNDEAD_LEAF_GRANULES - 1);
  if (UNLIKELY(leaf->touched[granule >> UNDEAD_TOUCH_SHIFT] != UNDEAD_TOUCHED_LATELY))
    undead_registry_touch(leaf, (uintptr_t)block);
  // The word belongs to the owner of the block, so there is nobody to race with but a scan.
  __atomic_store_n(&leaf->word[granule], word, __ATOMIC_RELEASE);
}

// Where the word of a block stands, if nothing else is to be noted of it; else NULL.
UNDEAD_INLINE uint32_t *slot_if_touched(const void *block) {
  undead_leaf *leaf = leaf_of(block);
  uintptr_t granule = (uintptr_t)block >> 4 & (UNDEAD_LEAF_GRANULES - 1);
  bool touched = LIKELY(leaf) && LIKELY(leaf->touched[granule >> UNDEAD_TOUCH_SHIFT] == UNDEAD_TOUCHED_LATELY);
  return touched ? &leaf->word[granule] : NULL;
}

UNDEAD_INLINE undead_frame caller_of(const hook_frame *frame) {
  return (undead_frame){frame->return_address, (uintptr_t)(frame + 1), frame->saved_frame_pointer};
}

// While backtraces are sampled a block costs a byte, and its size off the bytes to the next sample.
static __attribute__((noinline, unused)) void take_sample(void *block, size_t usable, uint8_t *byte, const hook_frame *frame) {
  undead_frame caller = caller_of(frame);
  if (undead_sample_take((uintptr_t)block, usable, caller.pc, caller.sp, caller.bp)) *byte |= UNDEAD_SPARSE_SAMPLED;
}

UNDEAD_INLINE void record_sampled_bytes(void *block, size_t usable, const hook_frame *frame) {
  if (UNLIKELY(undead_thread.ignored)) return;
  undead_leaf *leaf = leaf_of(block);
  if (UNLIKELY(!leaf) && !(leaf = undead_registry_leaf_slow((uintptr_t)block))) return;
  uint8_t *byte = undead_sparse_at(leaf, (uintptr_t)block);
  __atomic_store_n(byte, undead_sparse_new | undead_sparse_place((uintptr_t)block), __ATOMIC_RELEASE);
  if (UNLIKELY((undead_thread.sample_left -= (int64_t)usable) < 0)) take_sample(block, usable, byte, frame);
}

UNDEAD_INLINE void record_sampled(void *block, size_t size, const hook_frame *frame) {
  record_sampled_bytes(block, sampled_size(block, size), frame);
}
