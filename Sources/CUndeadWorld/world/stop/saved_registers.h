// The registers of a thread that waits in the handler of a signal of ours, where the kernel saved them.
#pragma once
#include "platform/processor/registers.h"

typedef struct {
  struct {
    uint8_t *low;
    size_t bytes;
  } parts[2];   // general, vector
} undead_saved_registers;

undead_saved_registers undead_saved_find(ucontext_t *context);
// Makes addresses of them that nobody has; a second call makes them what they were.
void undead_saved_disguise(const undead_saved_registers *saved);

// Once, before the first signal. Without memory, threads return by the frames on their stacks.
void undead_saved_prepare(void);
// Moves what the kernel saved out of the program's memory, and leaves it there in disguise. The new place of the context; NULL: it is
// where it was. Async-signal-safe; all signals are blocked until the thread returns by it.
ucontext_t *undead_saved_move(ucontext_t *context, const undead_saved_registers *saved);
