// From marks to the nodes and edges of a result.
#pragma once
#include "scan/body.h"
#include "scan/storage.h"

// State of an unreachable block that is no Swift object, until undead_collect_decide.
#define UNDEAD_STATE_UNDECIDED 0

// Adds a node for every block without a mark, in address order, and counts the live ones.
void undead_collect_unreached(undead_storage *storage, undead_bodies *bodies);

// Adds one more node at the end of the list; its index, or UINT32_MAX if the list is full.
uint32_t undead_collect_node(undead_storage *storage, undead_bodies *bodies, uintptr_t block, undead_state state);

// Nodes from `sorted` on were added later: brings all into address order and drops doubles.
bool undead_collect_sort(undead_storage *storage, uint32_t sorted);

// Index of a listed block, UINT32_MAX if it is not listed. The list must be in order.
typedef struct {
  const undead_scan_result *result;
  uint32_t **first;    // for each leaf, for each page: the first node that starts in it or later
} undead_node_index;
bool undead_node_index_open(undead_node_index *index, const undead_scan_result *result);
void undead_node_index_close(undead_node_index *index);
uint32_t undead_node_index_of(const undead_node_index *index, uintptr_t block);

// Lists the edges among all nodes; false without memory.
bool undead_collect_edges(undead_storage *storage, undead_bodies *bodies);

// With the world running: tells raw memory of Swift code and support from what is only counted, and renumbers.
bool undead_collect_decide(undead_storage *storage);
