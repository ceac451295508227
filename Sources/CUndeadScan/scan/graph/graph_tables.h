// The tables of a heap file while it is streamed: each kind of block and reference gets a number when it is first met.
#pragma once
#include "platform/memory/index_map.h"
#include "scan/blocks/heap.h"
#include "scan/bodies/body.h"
#include "scan/graph.h"
#include "world/world.h"

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

// The number of a block in address order. Only while the blocks stay as they are.

#define UNDEAD_RANK_GROUP_SHIFT 10   // a group of 64 granules

typedef struct {
  uint64_t blocks;   // bit k: a block starts at the k-th granule of the group
  uint32_t before;   // blocks that start before the group
} undead_rank_group;

typedef struct {
  undead_rank_group **leaves;   // by leaf of the address space; NULL where no block starts
  uint32_t count;               // of all blocks
  bool failed;
} undead_ranks;

// False without memory.
bool undead_ranks_open(undead_ranks *ranks, const undead_heap *heap);
void undead_ranks_close(undead_ranks *ranks);

// Of a block that is in the heap.
static inline uint32_t undead_rank_of(const undead_ranks *ranks, uintptr_t block) {
  const undead_rank_group *leaf = ranks->leaves[block >> UNDEAD_LEAF_SHIFT];
  const undead_rank_group *group = &leaf[(block & ((1ull << UNDEAD_LEAF_SHIFT) - 1)) >> UNDEAD_RANK_GROUP_SHIFT];
  return group->before + (uint32_t)__builtin_popcountll(group->blocks & ((1ull << (block >> 4 & 63)) - 1));
}

// In whose frame each word of a stack lies, so that a heap file names the function and not only the thread.

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

// How much of a collection's storage is in use.

typedef struct {
  uint64_t used, capacity;   // elements; of text and bytes: bytes
  uint64_t bytes;            // of the memory that the elements lie in
  bool has_hash;
  uint64_t hash;             // of a string's text
} undead_contents;

// False if the object is no storage of a collection, or its words cannot be: a thread may be changing it. `salt` goes into
// hashes, so that they tell nothing of the text itself.
bool undead_contents_of(undead_contents *contents, const undead_layout *layout, uintptr_t block, size_t size, uint64_t salt);

// The layout of storage that is large enough for its slices to matter; NULL for other blocks.
const undead_layout *undead_large_storage(undead_bodies *bodies, uintptr_t block);
// What stands around the reference at `at` to storage of this layout, in memory from `low` to `high`: three words before it, it, three
// behind it. Of a byte buffer: 0, 0, 0, the reference, the range that it shows, 0.
void undead_slice_words(uint64_t words[UNDEAD_SLICE_WORDS], const undead_layout *layout, uintptr_t at, uintptr_t low, uintptr_t high);
