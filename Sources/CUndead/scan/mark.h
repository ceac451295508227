// Marks every live block that the roots reach, in the registry's words.
#pragma once
#include "scan/body.h"
#include "scan/roots.h"

#define UNDEAD_CANDIDATE_RING 32u   // candidates whose registry word is on its way to the cache
#define UNDEAD_BLOCK_RING 8u        // marked blocks whose memory is
#define UNDEAD_MARK_SEGMENTS 32

typedef struct undead_marker undead_marker;

// In a second pass: whether the reference at `offset` of `from` (0: a root at `offset`) to `to` is left out.
typedef bool (*undead_cut)(const undead_marker *marker, uintptr_t from, uintptr_t offset, uintptr_t to);

struct undead_marker {
  undead_bodies *bodies;
  const undead_heap *heap;
  uint32_t bit;                // of the registry word
  undead_cut cut;              // NULL: none; asked only about blocks with UNDEAD_WORD_SPECIAL
  void *context;               // for `cut`
  bool no_memory;
  uint64_t blocks, bytes;      // marked so far
  uint64_t special;            // of them, blocks that `note` found to be special
  uint32_t (*note)(undead_marker *marker, uintptr_t block, size_t size, const undead_body *body);   // bits to set, or NULL
  uintptr_t *segment[UNDEAD_MARK_SEGMENTS];   // a stack that grows by doubling
  uint32_t segment_index;
  uint64_t top;                // in the current segment
  uintptr_t candidates[UNDEAD_CANDIDATE_RING];
  uintptr_t blocks_ahead[UNDEAD_BLOCK_RING];
  uint32_t candidate_at, block_at;
};

// `marker` must be zeroed but for bodies, heap, bit, cut, note. False without memory, then the marks are incomplete.
bool undead_mark_roots(undead_marker *marker, const undead_roots *roots);
void undead_mark_close(undead_marker *marker);
