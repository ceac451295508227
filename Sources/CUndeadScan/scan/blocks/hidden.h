// Recorded blocks with pages that may not be read at the moment (the guard of a stack that malloc gave, an arena that the
// program protects). No walk may read them, so for the time of a scan they are no blocks but somebody's memory: roots.
#pragma once
#include "scan/blocks/heap.h"

#define UNDEAD_MOST_HIDDEN 65536u
#define UNDEAD_MOST_OPENED 256u

typedef struct {
  uint32_t *slot, word;   // of the registry
} undead_hidden_block;

// Pages of the pool that the program has closed, with a block in them.
typedef struct {
  uintptr_t low, high;
  int protection;
} undead_opened_pages;

typedef struct {
  undead_opened_pages opened[UNDEAD_MOST_OPENED];
  volatile uint32_t opened_count;
  undead_hidden_block blocks[UNDEAD_MOST_HIDDEN];
  volatile uint32_t count;
  bool overflow;          // there are more: the scan cannot be made
} undead_hidden;

// What lies around a block of the pool is no memory of the program: such blocks stay, and what is closed of them is open for the time of
// the scan. World stopped.
void undead_open_chosen(undead_hidden *hidden, const undead_heap *heap);
// Takes the others out of the registry; true if there are any, then the heap must be opened again. World stopped.
bool undead_hide_unreadable(undead_hidden *hidden, const undead_heap *heap);
// Puts them back. May be called again.
void undead_hidden_restore(undead_hidden *hidden);
