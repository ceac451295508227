// Why a leak is certain. Most leaks are named by no word that the scan looks at. Of the others the counts decided (counts.h), and
// this keeps which words led to them.
#pragma once
#include "scan/view/collect.h"
#include "scan/counts/tally.h"
#include "scan/blocks/worklist.h"

// In the low bits of a block's address, as blocks are aligned to 16.
#define UNDEAD_WHY_COUNTS 1u
#define UNDEAD_WHY_NUMBER 2u   // a number names it itself
#define UNDEAD_WHY_PLACE 4u    // a place that may be out of use does

// After a round: the listed blocks that stayed unmarked.
void undead_certainty_add(undead_worklist *reasons, const undead_tally *tally);
// Gives the nodes of what leaked, which are sorted by address, their flags. Empties the list.
void undead_certainty_note(undead_storage *storage, undead_worklist *reasons);
