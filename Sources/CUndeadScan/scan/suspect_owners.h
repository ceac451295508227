// Which blocks that the second pass did not reach by certain references have their owners among themselves.
//
// A suspect is a warning, so that less must be proved than of garbage (scan/counts.h): a block that is referred to by
// others of this list, and by what fires it, as often as its count says is theirs, whatever a word of a stack or of a
// task's frame says.
#pragma once
#include "scan/address_index.h"
#include "scan/suspects.h"

typedef struct {
  uintptr_t block;
  uint32_t owners;   // references from blocks of the list that are counted, or as good as that
} undead_held_block;

typedef struct {
  undead_suspects *suspects;
  const undead_heap *heap;
  undead_held_block *blocks;   // ascending
  uint32_t count, capacity;
  undead_address_index index;
  const undead_body *body;     // whose words are counted
  bool in_closure;             // of C: it owns the context of the Swift closure that it calls
} undead_suspect_owners;

// After the roots of the second pass: marks what weak evidence names, unless its owners are known. False without memory.
bool undead_suspect_owners_open(undead_suspect_owners *owners, undead_suspects *suspects);
void undead_suspect_owners_close(undead_suspect_owners *owners);

// Whether other blocks of the list own all of `block`.
bool undead_suspect_is_owned(const undead_suspect_owners *owners, uintptr_t block);
