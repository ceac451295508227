#pragma once
#include "undead_backtraces.h"
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// The blocks that the registers of a thread, and its stack from the stack pointer up, name by their beginnings.
enum { UNDEAD_NAMED_BLOCKS = 256 };
typedef struct {
  uintptr_t blocks[UNDEAD_NAMED_BLOCKS];
  uint32_t count;
  bool whole;   // all of them are there
} undead_named_blocks;

// undead_thread_backtrace, and what the stack names at the same moment.
uint32_t undead_thread_look(int32_t tid, uintptr_t *frames, uint32_t max, undead_named_blocks *named);

#pragma GCC visibility pop
