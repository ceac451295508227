// Walks a stack frame by frame, without a cache: exact on any stack, also in a signal handler.
#pragma once
#include "platform/memory/thread_state.h"
#include "unwind/pc_table.h"

#pragma GCC visibility push(hidden)

// A frame: the return address into it, the stack pointer after that return, and its rbp at that moment.
typedef struct {
  uintptr_t pc, sp, bp;
} undead_frame;

// What is asked of rbp where there is no unwind information (as libunwind does).
static inline bool undead_is_frame_pointer(const undead_frame *frame) {
  return frame->bp >= frame->sp && frame->bp - frame->sp <= 0x4000;
}

typedef enum {
  UNDEAD_WALK_COMPLETE,   // ended at the outermost frame
  UNDEAD_WALK_DEEP,       // `max` frames were found and there are more
  UNDEAD_WALK_LOST,       // a frame cannot be unwound by the rules
} undead_walk_end;

// Writes the indices of the return addresses, innermost first. `*count` is what was found, also on UNDEAD_WALK_LOST.
undead_walk_end undead_walk(undead_thread_state *thread, undead_frame frame, uint32_t *indices, uint32_t max,
                            uint32_t *count);

// What became of a function, known by the stack pointer after its return: UNCERTAIN if the stack cannot be unwound.
typedef enum { UNDEAD_FRAME_FOUND, UNDEAD_FRAME_GONE, UNDEAD_FRAME_UNCERTAIN } undead_frame_fate;

// Looks for the function that returns to `sp` among `frame`'s and those that it was called from. Only code from `low` up
// to `high` is it: another function's frame may end at the same place after it is gone.
undead_frame_fate undead_walk_looks_for(undead_thread_state *thread, undead_frame frame, uintptr_t sp, uintptr_t low,
                                        uintptr_t high);

typedef enum {
  UNDEAD_STEP_LOST,          // the outermost frame, or one that cannot be unwound by the rules
  UNDEAD_STEP_CALLER,
  UNDEAD_STEP_INTERRUPTED,   // from a signal handler's trampoline to the frame that it interrupted
} undead_step;

// From a frame of a thread that stands still, of any thread, to the one that called it.
undead_step undead_walk_step(undead_frame *frame);

#pragma GCC visibility pop
