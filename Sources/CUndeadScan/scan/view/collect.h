// From marks to the nodes and edges of a result.
#pragma once
#include "scan/bodies/body.h"
#include "scan/blocks/address_index.h"
#include "scan/view/storage.h"

// State of an unreachable block that is no Swift object, until undead_collect_decide.
#define UNDEAD_STATE_UNDECIDED 0

// Adds a node for every block without a mark, in address order, and counts the live ones.
void undead_collect_unreached(undead_storage *storage, undead_bodies *bodies);

// Adds one more node at the end of the list; its index, or UINT32_MAX if the list is full.
uint32_t undead_collect_node(undead_storage *storage, undead_bodies *bodies, uintptr_t block, undead_state state);

// Nodes from `sorted` on were added later: brings all into address order and drops doubles.
bool undead_collect_sort(undead_storage *storage, uint32_t sorted);

// An observer's token, and the closure that it stands for: an implied edge.
typedef struct {
  uintptr_t token, closure;
} undead_observer_link;

// Lists the edges among all nodes; false without memory.
bool undead_collect_edges(undead_storage *storage, undead_bodies *bodies, const undead_observer_link *links,
                          uint32_t link_count);

// With the world running: tells raw memory of Swift code and support from what is only counted, and renumbers.
bool undead_collect_decide(undead_storage *storage);
