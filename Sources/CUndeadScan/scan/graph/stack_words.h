// In whose frame each word of a stack lies, so that a heap file names the function and not only the thread.
#pragma once
#include "scan/graph/graph_tables.h"
#include "world/world.h"

enum { UNDEAD_MOST_STACK_FRAMES = 128 };

// The frames of one thread, of which all but the addresses are known from the stack pointers.
typedef struct {
  const undead_world *world;
  int32_t tid;             // 0: none yet
  uint32_t first;          // in `frames` of the graph
  uint32_t count;
  uintptr_t low[UNDEAD_MOST_STACK_FRAMES];   // where the words of each frame begin, innermost first
} undead_stack_frames;

// Notes the frames around a word at `address` (in the program) of a thread's stack, for the next root edge of the graph.
void undead_stack_word_note(undead_stack_frames *self, undead_graph *graph, int32_t tid, uintptr_t address);
