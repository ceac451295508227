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
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Nothing waits yet. `ends`: tasks do not go on, so only what waits in a frame is in use.
void undead_borrowed_begin(bool ends);
// The code at `pc` stands in a weak frame that goes on.
void undead_borrowed_add(uintptr_t pc);
// Whether a frame may use an object with this backtrace without owning it. From any thread of a scan.
bool undead_may_be_borrowed(uint32_t backtrace);
