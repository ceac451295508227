// Reference counts decide where only weak evidence names an object: numbers, and words of stacks that may be stale.
//
// Of the blocks that such words lead to, a set is garbage if each of its objects is referred to by as many counted
// references from garbage as its strong count says: then nobody outside owns any of them (trial deletion: Bacon and
// Rajan, "Concurrent Cycle Collection in Reference Counted Systems", ECOOP 2001; here nothing is written). Whatever
// does not come out even is alive, with all that it refers to.
#pragma once
#include "scan/blocks/worklist.h"
#include "scan/bodies/body.h"
#include "scan/counts/tally.h"
#include "scan/mark/mark.h"
#include "scan/view/collect.h"

// Decides about the blocks that `marker` listed, and all that they reach. Those that are alive are marked as if a root
// named them; the others keep no mark. Only after all roots were marked. False without memory.
bool undead_counts_decide(undead_marker *marker);

// Why a leak is certain. Most leaks are named by no word that the scan looks at. Of the others the counts decided (counts.h), and
// this keeps which words led to them.

// In the low bits of a block's address, as blocks are aligned to 16.
#define UNDEAD_WHY_COUNTS 1u
#define UNDEAD_WHY_NUMBER 2u   // a number names it itself
#define UNDEAD_WHY_PLACE 4u    // a place that may be out of use does

// After a round: the listed blocks that stayed unmarked.
void undead_certainty_add(undead_worklist *reasons, const undead_tally *tally);
// Gives the nodes of what leaked, which are sorted by address, their flags. Empties the list.
void undead_certainty_note(undead_storage *storage, undead_worklist *reasons);

// Sets of objects that nobody owns, going by their counts, but that a word of a doubtful frame names: a frame of Swift code
// of a thread that ran, or that called the Swift runtime.
//
// If the word is stale, the set leaked. It may also be in use: optimised code may store a reference and count it later,
// and an object that keeps itself alive on purpose may be at work in such a frame. So the set stays alive and is
// a suspect. The frame at work is left out (scan/stacks/quiet.h): what it has not counted yet is in its registers and slots.

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

// Objects that should be gone, and that nobody owns but what they refer to themselves: a word of a thread, of a frame, or of memory
// without a type that names one owns nothing, as all references that its count stands for are known.

// Of the objects, those that are marked without `reached`, which what owns something has given all that it leads to. Lists the
// blocks of their sets, and gives them `reached`. `by_counts`: what has no count is taken for alive; else the cycles of the objects
// that something else owns, too, are listed in `cycles`. Uses the bit UNDEAD_WORD_OWNED. False without memory.
bool undead_outlived_find(undead_bodies *bodies, const uintptr_t *objects, uint32_t count, uint32_t reached, bool by_counts,
                          undead_worklist *found, undead_worklist *cycles);
