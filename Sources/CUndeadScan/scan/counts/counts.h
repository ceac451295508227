// Reference counts decide where only weak evidence names an object: numbers, and words of stacks that may be stale.
//
// Of the blocks that such words lead to, a set is garbage if each of its objects is referred to by as many counted
// references from garbage as its strong count says: then nobody outside owns any of them (trial deletion: Bacon and
// Rajan, "Concurrent Cycle Collection in Reference Counted Systems", ECOOP 2001; here nothing is written). Whatever
// does not come out even is alive, with all that it refers to.
#pragma once
#include "scan/bodies/body.h"
#include "scan/mark/mark.h"

// Decides about the blocks that `marker` listed, and all that they reach. Those that are alive are marked as if a root
// named them; the others keep no mark. Only after all roots were marked. False without memory.
bool undead_counts_decide(undead_marker *marker);
