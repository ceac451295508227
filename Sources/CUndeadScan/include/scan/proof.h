// A proof that blocks are alive, for which nobody stops: a chain of references leads to each of them from a global variable.
// It is read while the program runs. Garbage stays garbage, since nobody can refer to it again: what references lead to, all
// of them read later than the question was asked, was none then, and a scan would have reached it. The chains lead over
// nothing that fires or waits, and each is read twice, as blocks may be freed and used again between two steps. That
// nothing was found says nothing.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  const uintptr_t *wanted;    // starts of blocks, each once
  uint32_t wanted_count;
  uintptr_t holder;           // an object that the caller's caller holds, 0 if there is none
  uint32_t first_id;          // backtraces of older blocks have lower ids: what is new is looked at first
  bool found;                 // the result: all of them are alive
} undead_proof;

// On the tool's own thread, after undead_modules_refresh. Types whose layouts are not known are learned if known ones do not
// lead to all that is wanted.
void undead_proof_search(undead_proof *proof);

#pragma GCC visibility pop
