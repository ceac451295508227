// What a stack tells of other stacks: the frames of signals, and functions that ucontext has started.
#pragma once
#include "world/images.h"

// The lowest stack pointer in `stack` that a signal interrupted whose frame lies in `where`, 0 if there is none. Such a
// frame may be of a signal that was handled long ago.
uintptr_t undead_lowest_interrupted(undead_interval where, undead_interval stack);

// True if a function that makecontext prepared was called from `where` on: then frames that wait for it may lie anywhere.
bool undead_has_started_context(undead_interval where);
