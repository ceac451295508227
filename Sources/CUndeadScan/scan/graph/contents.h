// How much of a collection's storage is in use.
#pragma once
#include "scan/bodies/body.h"
#include "scan/graph.h"

typedef struct {
  uint64_t used, capacity;   // elements; of text and bytes: bytes
  uint64_t bytes;            // of the memory that the elements lie in
  bool has_hash;
  uint64_t hash;             // of a string's text
} undead_contents;

// False if the object is no storage of a collection, or its words cannot be: a thread may be changing it. `salt` goes into
// hashes, so that they tell nothing of the text itself.
bool undead_contents_of(undead_contents *contents, const undead_layout *layout, uintptr_t block, size_t size, uint64_t salt);

// The layout of storage that is large enough for its slices to matter; NULL for other blocks.
const undead_layout *undead_large_storage(undead_bodies *bodies, uintptr_t block);
// What stands around the reference at `at` to storage of this layout, in memory from `low` to `high`: three words before it, it, three
// behind it. Of a byte buffer: 0, 0, 0, the reference, the range that it shows, 0.
void undead_slice_words(uint64_t words[UNDEAD_SLICE_WORDS], const undead_layout *layout, uintptr_t at, uintptr_t low, uintptr_t high);
