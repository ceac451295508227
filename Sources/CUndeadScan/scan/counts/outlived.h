// Objects that should be gone, and that nobody owns but what they refer to themselves: a word of a thread, of a frame, or of memory
// without a type that names one owns nothing, as all references that its count stands for are known.
#pragma once
#include "scan/bodies/body.h"
#include "scan/blocks/worklist.h"

// Of the objects, those that are marked without `reached`, which what owns something has given all that it leads to. Lists the
// blocks of their sets, and gives them `reached`. `by_counts`: what has no count is taken for alive; else the cycles of the objects
// that something else owns, too, are listed in `cycles`. Uses the bit UNDEAD_WORD_OWNED. False without memory.
bool undead_outlived_find(undead_bodies *bodies, const uintptr_t *objects, uint32_t count, uint32_t reached, bool by_counts,
                          undead_worklist *found, undead_worklist *cycles);
