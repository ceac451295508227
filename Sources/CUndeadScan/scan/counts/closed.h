// Sets of objects that nobody owns, going by their counts, but that a word of a doubtful frame names: a frame of Swift code
// of a thread that ran, or that called the Swift runtime.
//
// If the word is stale, the set leaked. It may also be in use: optimised code may store a reference and count it later,
// and an object that keeps itself alive on purpose may be at work in such a frame. So the set stays alive and is
// a suspect. The frame at work is left out (scan/stacks/quiet.h): what it has not counted yet is in its registers and slots.
#pragma once
#include "scan/mark/mark.h"

typedef struct {
  uintptr_t block;
  bool named;          // a doubtful word names it
} undead_closed_block;

typedef struct {
  undead_closed_block *blocks;   // of all the sets, ascending
  uint32_t count, capacity;
  undead_worklist kept;          // blocks that others own, as the counts have decided; tells the first pass
} undead_closed;

// Before the first pass: makes it note what this search needs.
void undead_closed_prepare(undead_closed *closed, undead_marker *marker);
// After the counts have decided. False without memory.
bool undead_closed_find(undead_closed *closed, undead_marker *marker, const undead_roots *roots);
void undead_closed_close(undead_closed *closed);
