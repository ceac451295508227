// Which blocks that the second pass did not reach by certain references have their owners among themselves.
//
// A suspect is a warning, so that less must be proved than of garbage (scan/counts/counts.h): a block that is referred to by
// others of this list, and by what fires it, as often as its count says is theirs, whatever a word of a stack or of a
// task's frame says.
#pragma once
#include "scan/suspects/suspects.h"
#include "scan/counts/tally.h"

typedef struct {
  undead_suspects *suspects;
  const undead_heap *heap;
  undead_tally tally;          // `counted`: references from blocks of the list that are counted, or as good as that
  const undead_body *body;     // whose words are counted
} undead_suspect_owners;

// After the roots of the second pass: marks what weak evidence names, unless its owners are known. False without memory.
bool undead_suspect_owners_open(undead_suspect_owners *owners, undead_suspects *suspects);
void undead_suspect_owners_close(undead_suspect_owners *owners);

// Whether other blocks of the list own all of `block`.
bool undead_suspect_is_owned(const undead_suspect_owners *owners, uintptr_t block);
