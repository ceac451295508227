// The tables of a heap file while it is streamed: each kind of block and reference gets a number when it is first met.
#pragma once
#include "platform/memory/index_map.h"
#include "scan/bodies/body.h"
#include "scan/graph.h"

#define UNDEAD_AREA_LIMIT (1u << 17)
#define UNDEAD_SLICE_LIMIT (1u << 14)
#define UNDEAD_HOLDER_LIMIT (1u << 18)
#define UNDEAD_TASK_LIMIT (1u << 23)
#define UNDEAD_TASK_NAME_LIMIT (1u << 22)

typedef struct undead_graph_tables {
  undead_graph *graph;
  struct undead_graph_tables *all;   // of several threads: where numbers are given, under the lock; what is here is known already
  uint32_t lock;
  undead_index_map types, shapes, places, roots, task_names;
  uint32_t *site_of;       // by backtrace id: index + 1
  uint64_t site_of_bytes;
  bool full;               // a table has no room, or there is no memory
} undead_graph_tables;

// Between these, nobody else gives numbers. False if a thread crashed, and all are to end.
bool undead_graph_tables_lock(undead_graph_tables *tables);
void undead_graph_tables_unlock(undead_graph_tables *tables);

// Those of a thread that works with others, for the same graph; `graph` is where it lists what is in order.
undead_graph_tables undead_graph_tables_of_member(undead_graph_tables *all, undead_graph *graph);
// False without memory.
bool undead_graph_tables_open(undead_graph_tables *tables, undead_graph *graph);
void undead_graph_tables_close(undead_graph_tables *tables);

// The type of a block, UINT32_MAX if it is memory of which nothing is known.
uint32_t undead_graph_type_of(undead_graph_tables *tables, undead_bodies *bodies, uintptr_t block, size_t size, undead_kind kind);
uint32_t undead_graph_shape_of(undead_graph_tables *tables, undead_graph_shape shape);
// The place with this type, offset, strength and these flags, UINT32_MAX if it was not met yet.
uint32_t undead_graph_place_known(const undead_graph_tables *tables, const undead_graph_place *place);
// The same; it is added if it is new, with the rest of it.
uint32_t undead_graph_place_of(undead_graph_tables *tables, undead_graph_place place);
uint32_t undead_graph_root_of(undead_graph_tables *tables, undead_graph_root root);
// 0: none, else 1 + index.
uint32_t undead_graph_site_of(undead_graph_tables *tables, uint32_t backtrace);
