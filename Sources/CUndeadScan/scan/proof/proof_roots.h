// Words of global variables that a scan takes for references, whatever else it knows.
#pragma once
#include "scan/blocks/heap.h"
#include "scan/roots/numbers.h"

typedef struct {
  undead_intervals numbers;    // words that are numbers
} undead_proof_roots;

// With the program running, on the tool's own thread.
void undead_proof_roots_open(undead_proof_roots *roots);
// True for an aligned word of a variable that is no number.
bool undead_proof_is_root(const undead_proof_roots *roots, uintptr_t place);
// Calls `visit` for each such word that names the start of a live block, of the program or of the toolchain's libraries.
typedef void (*undead_proof_root_visitor)(void *context, uintptr_t place, uintptr_t value);
void undead_proof_each_root(const undead_proof_roots *roots, const undead_heap *heap, bool toolchain,
                            undead_proof_root_visitor visit, void *context);
