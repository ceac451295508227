// The blocks of a heap file, one after the other, with their references.
#pragma once
#include "platform/maps/maps.h"
#include "scan/graph/graph_walk.h"

// The references of a block while they are listed: their number comes first in the stream.
typedef struct {
  uint32_t place, target;
  uintptr_t at;            // of the word
  const undead_layout *storage;   // that the word may be a slice of; NULL: no neighbours
} undead_listed_edge;

// Words in front of references, and whether they are addresses of code: few of millions differ, and the map of the memory has one
// place for what was found last, which threads would take from each other.
enum { UNDEAD_KNOWN_CODES = 256 };
typedef struct {
  uintptr_t word;
  bool executable;
} undead_known_code;

typedef struct {
  undead_graph_writer writer;
  uint32_t *turn;          // of several threads: who may ask what only one may ask at a time; NULL: there is one
  uintptr_t first;         // block of the part, 0: there was none
  uintptr_t before;        // the block before
  uint32_t rank;           // of the next block
  const undead_mapping *mapping;   // of the last block
  // Of the block under way.
  uintptr_t block;
  size_t size;
  undead_kind kind;
  uint32_t type;
  bool dying;              // its deinit has run: its fields may name what they gave up
  const undead_body *body;
  undead_listed_edge *edges;
  uint64_t edge_count, edge_capacity;
  undead_known_code codes[UNDEAD_KNOWN_CODES];
} undead_graph_walk;

void undead_graph_walk_all(undead_graph_walk *walk);
// Only the blocks of a part, whose stream lacks the distance of the first one to the block before. False if it came to no end.
bool undead_graph_walk_part(undead_graph_walk *walk, uint32_t part);
void undead_graph_walk_close(undead_graph_walk *walk);
