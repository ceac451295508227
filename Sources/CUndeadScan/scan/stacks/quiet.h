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
#include <stdbool.h>
#include <stdint.h>

// Looks up what is needed of the program's symbols, with the world running.
void undead_quiet_prepare(void);

// With the world stopped: splits the roots that are stacks, and marks the weak parts. False without memory.
bool undead_quiet_mark(undead_roots *roots, const undead_world *world, const undead_scan_options *options);

// Objects that a waiting frame may use without a count of its own.
//
// An object that refers to itself, and that its function has shown to nobody, needs no further reference while the function waits: the
// optimiser moves the retain for later uses behind the call, since what is called cannot release the object.
//
//     let messenger = Messenger(); messenger.list = [messenger]; wait(); return messenger      // count 1 in wait()
//
// That takes the instruction that allocates the object to be in the function itself. So what a frame names is in use if the function
// that allocated it is one that waits in a weak frame, or is asynchronous, whose frames outlive its pieces; or if it is not known.
// Of a process that ends, only the frames of other threads than the one that ends it are asked about. Filled by quiet.c, asked by mark.c.

// Nothing waits yet. `ends`: tasks do not go on, so only what waits in a frame is in use.
void undead_borrowed_begin(bool ends);
// The code at `pc` stands in a weak frame that goes on.
void undead_borrowed_add(uintptr_t pc);
// Whether a frame may use an object with this backtrace without owning it. From any thread of a scan.
bool undead_may_be_borrowed(uint32_t backtrace);
