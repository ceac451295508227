// What a stack tells of other stacks: the frames of signals, and functions that ucontext has started.
#pragma once
#include "world/images.h"

// The lowest stack pointer in `stack` that a signal interrupted whose frame lies in `where`, 0 if there is none. Such a
// frame may be of a signal that was handled long ago.
uintptr_t undead_lowest_interrupted(undead_interval where, undead_interval stack);

// True if a function that makecontext prepared was called from `where` on: then frames that wait for it may lie anywhere.
bool undead_has_started_context(undead_interval where);

// Whether an instruction that calls a function ends at `address`.
bool undead_is_return_address(uintptr_t address);

// What lies on the stack for a signal that came while its thread was in a system call of libc, or about to be in one.
typedef struct {
  undead_interval saved[2];   // registers that functions leave as they are
  undead_interval dead;       // undefined by calls, arguments of the handler, unused below the stack pointer
} undead_signal_frame;

// Reads the frame at `at`, on the stack of the code that the signal interrupted, which has its stack pointer at `sp` and
// goes on at `pc`. False if it was interrupted elsewhere, or on another stack.
bool undead_read_signal_frame(undead_signal_frame *frame, uintptr_t at, uintptr_t sp, uintptr_t pc);
