// How much of a collection's storage is in use.
#pragma once
#include "scan/bodies/body.h"

typedef struct {
  uint64_t used, capacity;   // elements; of text and bytes: bytes
  uint64_t bytes;            // of the memory that the elements lie in
  bool has_hash;
  uint64_t hash;             // of a string's text
} undead_contents;

// False if the object is no storage of a collection, or its words cannot be: a thread may be changing it. `salt` goes into
// hashes, so that they tell nothing of the text itself.
bool undead_contents_of(undead_contents *contents, const undead_layout *layout, uintptr_t block, size_t size, uint64_t salt);
