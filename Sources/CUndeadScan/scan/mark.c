#include "scan/mark.h"
#include "record/avoid.h"
#include "record/scopes.h"
#include <assert.h>

static void note_scope(undead_scan_result *result, uint32_t scope) {
  if (!scope || result->thread_scope_count == UNDEAD_MOST_THREAD_SCOPES) return;
  for (uint32_t i = 0; i < result->thread_scope_count; i++)
    if (result->thread_scopes[i] == scope) return;
  result->thread_scopes[result->thread_scope_count++] = scope;
}

static inline void mark(undead_marker *marker, uintptr_t address, uintptr_t from, uintptr_t offset) {
  uintptr_t block = undead_heap_block(marker->heap, address);
  if (!block) {
    if (marker->result) undead_avoid_address(address);
    return;
  }
  uint32_t *word = undead_heap_word(marker->heap, block);
  if (*word & marker->bit) return;
  if (marker->cut && *word & UNDEAD_WORD_SPECIAL && marker->cut(marker, from, offset, block)) return;
  *word |= marker->bit;
  if (marker->only_threads) note_scope(marker->result, undead_scope_of_backtrace(*word & UNDEAD_WORD_BACKTRACE));
  undead_worklist_push(&marker->waiting, block);
}

// The registry's word of a candidate is seldom in the cache: ask for it now and look at it a few candidates later.
static inline void consider(undead_marker *marker, uintptr_t word, uintptr_t from, uintptr_t offset) {
  uintptr_t address = word & UNDEAD_POINTER_MASK;
  if (!undead_heap_may_hold(marker->heap, address)) return;
  const undead_leaf *leaf = marker->heap->regions[address >> UNDEAD_LEAF_SHIFT].leaf;
  if (leaf) __builtin_prefetch(&leaf->word[(address >> 4) & (UNDEAD_LEAF_GRANULES - 1)]);
  uint32_t at = marker->candidate_at++ & (UNDEAD_CANDIDATE_RING - 1);
  if (marker->candidates[at].address)
    mark(marker, marker->candidates[at].address, marker->candidates[at].from, marker->candidates[at].offset);
  marker->candidates[at].address = address;
  marker->candidates[at].from = from;
  marker->candidates[at].offset = offset;
}

static void settle_candidates(undead_marker *marker) {
  for (uint32_t i = 0; i < UNDEAD_CANDIDATE_RING; i++) {
    uintptr_t address = marker->candidates[i].address;
    marker->candidates[i].address = 0;
    if (address) mark(marker, address, marker->candidates[i].from, marker->candidates[i].offset);
  }
}

static void consider_complement(undead_marker *marker, uintptr_t word, uintptr_t from, uintptr_t offset) {
  uintptr_t target = undead_complement_target(marker->heap, word);
  if (target) consider(marker, target, from, offset);
}

static void scan_block(undead_marker *marker, uintptr_t block) {
  size_t size = undead_block_size(block);
  undead_body body;
  undead_body_of(marker->bodies, block, size, &body);
  marker->blocks++;
  marker->bytes += size;
  if (marker->note) *undead_heap_word(marker->heap, block) |= marker->note(marker, block, size, &body);
  if (body.isa) consider(marker, body.isa, block, 0);
  const uint32_t *skip = body.skip, *skip_end = body.skip + body.skip_count;
  for (uintptr_t at = body.low; at < body.high; at += 8) {
    if (skip < skip_end && at - block >= *skip) {
      bool weak = at - block == *skip;
      while (skip < skip_end && *skip <= at - block) skip++;
      if (weak) continue;
    }
    if (body.elements.range_count && undead_elements_skip(&body.elements, at)) continue;
    uintptr_t word = *(const uintptr_t *)at;
    if (!body.isa && word >> 47 == UNDEAD_COMPLEMENT_TOP) consider_complement(marker, word, block, at - block);
    consider(marker, word, block, at - block);
  }
}

static void drain(undead_marker *marker) {
  for (uint32_t idle = 0; idle < 2 * UNDEAD_BLOCK_RING;) {
    uintptr_t block = undead_worklist_pop(&marker->waiting);
    if (!block) {
      settle_candidates(marker);
      block = undead_worklist_pop(&marker->waiting);
    }
    uint32_t at = marker->block_at++ & (UNDEAD_BLOCK_RING - 1);
    uintptr_t ready = marker->blocks_ahead[at];
    marker->blocks_ahead[at] = block;
    // The block's own chunk header is in the line before it.
    if (block) {
      __builtin_prefetch((const void *)(block - 16));
      __builtin_prefetch((const void *)(block + 48));
    }
    if (ready) scan_block(marker, ready);
    idle = block || ready ? 0 : idle + 1;
  }
}

static void scan_root(undead_marker *marker, const undead_root *root) {
  for (uintptr_t at = root->low; at < root->high; at += 8)
    consider(marker, *(const uintptr_t *)at, 0, at);
}

static bool is_of_other_thread(const undead_marker *marker, const undead_root *root) {
  return (root->kind == UNDEAD_ROOT_STACK || root->kind == UNDEAD_ROOT_REGISTER) && root->tid != marker->caller;
}

static void scan_roots(undead_marker *marker, const undead_roots *roots, bool of_other_threads) {
  for (uint32_t i = 0; i < roots->count; i++) {
    if (is_of_other_thread(marker, &roots->roots[i]) != of_other_threads) continue;
    scan_root(marker, &roots->roots[i]);
    if (marker->waiting.top > UNDEAD_WORKLIST_FIRST / 2) drain(marker);
  }
  drain(marker);
}

bool undead_mark_roots(undead_marker *marker, const undead_roots *roots) {
  assert(marker->bit && marker->heap && marker->bodies);
  scan_roots(marker, roots, false);
  marker->only_threads = marker->result != NULL;
  scan_roots(marker, roots, true);
  marker->only_threads = false;
  return !marker->waiting.no_memory;
}

void undead_mark_close(undead_marker *marker) { undead_worklist_close(&marker->waiting); }
