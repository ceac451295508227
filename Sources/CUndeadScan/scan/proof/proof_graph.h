// What a proof has reached so far, and how: blocks in the order in which they were found.
#pragma once
#include "scan/blocks/heap.h"
#include "scan/bodies/body.h"
#include "scan/proof.h"
#include "scan/roots/roots.h"

// Words of global variables that a scan takes for references, whatever else it knows.

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

// In place of the number of a block that refers to another one.
#define UNDEAD_PROOF_NOBODY UINT32_MAX         // wanted, and not reached so far
#define UNDEAD_PROOF_ROOT (UINT32_MAX - 1)     // a global variable, at `place`
#define UNDEAD_PROOF_HOLDER (UINT32_MAX - 2)   // the caller's caller

typedef struct {
  uintptr_t block, place;
  uint32_t word;              // of the registry
  uint32_t from;
  bool followed;
  bool unknown;               // it was, and nobody knew its type
  bool needed;                // in the end: it is wanted, or leads to what is
  bool confirmed;             // its reference was there a second time
} undead_proof_node;

typedef struct {
  const undead_heap *heap;
  undead_bodies *bodies;
  undead_proof_node *nodes;
  uint32_t count, wanted;     // the first are the wanted ones
  uint32_t missing;           // how many of these were not reached so far
  uint32_t old_count, first_id;
  uint32_t next;              // the first that may have to be followed
  uint32_t *slots;            // of a hash table: numbers of blocks, plus one
  uint32_t *fresh, fresh_count;   // those of new blocks that are to be followed, before all others
  uint32_t current;           // that is being followed
  uint64_t bytes;             // that were looked at
  bool learns;                // types of blocks whose layouts nobody knows yet
} undead_proof_graph;

bool undead_proof_graph_open(undead_proof_graph *graph, const undead_heap *heap, const undead_proof *proof);
void undead_proof_graph_close(undead_proof_graph *graph);

void undead_proof_reach_from_root(undead_proof_graph *graph, uintptr_t place, uintptr_t value);
void undead_proof_reach_held(undead_proof_graph *graph, uintptr_t object);
// Follows what was reached until all that is wanted was; false if it was not, or this would take too long.
bool undead_proof_follow(undead_proof_graph *graph);
// Learns the types of what was followed, which will be once more then, and from now on of all that is.
void undead_proof_learn(undead_proof_graph *graph);
// Reads the chains to what is wanted a second time.
bool undead_proof_confirm(undead_proof_graph *graph, const undead_proof_roots *roots);
