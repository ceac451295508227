// Which words of threads are weak evidence: those of frames of Swift code that wait in a call.
//
// Compiled Swift code holds what it owns by counted references, but optimised code may count one only some instructions
// after it stored it, and frees no slot that it has done with. So a word of a frame says nothing certain, and its absence
// from the counts is certain only at a call that the compiler cannot look into: there every reference that is in use is
// counted. That is so for the frames of a thread that stands in a system call which Swift code reached through functions
// of C alone, and for those of the thread that asked for the check or ends the program. Frames of C code, frames that
// called the runtime (which the compiler knows: swift_release and its like), and frames further out than anything
// that cannot be unwound keep their words as roots. Beyond the frame of a signal the same holds if that came during such a
// system call.
#pragma once
#include "scan/roots/roots.h"
#include "scan/scan.h"
#include "world/world.h"

// Looks up what is needed of the program's symbols, with the world running.
void undead_quiet_prepare(void);

// With the world stopped: splits the roots that are stacks, and marks the weak parts. False without memory.
bool undead_quiet_mark(undead_roots *roots, const undead_world *world, const undead_scan_options *options);
