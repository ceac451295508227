// Recorded blocks with pages that may not be read at the moment (the guard of a stack that malloc gave, an arena that the
// program protects). No walk may read them, so for the time of a scan they are no blocks but somebody's memory: roots.
#pragma once
#include "scan/blocks/heap.h"

#define UNDEAD_MOST_HIDDEN 65536u

typedef struct {
  uint32_t *slot, word;   // of the registry
} undead_hidden_block;

typedef struct {
  undead_hidden_block blocks[UNDEAD_MOST_HIDDEN];
  volatile uint32_t count;
  bool overflow;          // there are more: the scan cannot be made
} undead_hidden;

// Takes them out of the registry; true if there are any, then the heap must be opened again. World stopped.
bool undead_hide_unreadable(undead_hidden *hidden, const undead_heap *heap);
// Puts them back. May be called again.
void undead_hidden_restore(undead_hidden *hidden);
