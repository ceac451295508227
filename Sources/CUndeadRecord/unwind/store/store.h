// The store of backtraces: a trie from the outermost frame inwards. The id of a backtrace is the node of its innermost
// frame. Nodes are only ever added, without locks, so that a fork, a signal or a stop finds it whole at any moment.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uint32_t pc_index;   // or, with UNDEAD_RUN_BIT, the node of a run
  uint32_t sibling;    // next child of the parent: a node or a fan (UNDEAD_FAN_BIT); the last has the parent (UNDEAD_PARENT_BIT)
  uint32_t child;      // first of its children, or a fan, 0 if there is none; not there in nodes of runs, which have none
} undead_trie_node;

// Nodes are known by their first word.
#define UNDEAD_TRIE_ROOT 1u   // the empty backtrace: UNDEAD_BACKTRACE_NONE
// The innermost frames of a backtrace are the same few again and again (the allocator's callers), whatever is outside
// of them. So they are stored once, in a trie of their own, and one node stands for all of them.
#define UNDEAD_TRIE_RUNS 4u
#define UNDEAD_RUN_FRAMES 3u
// The root of allocation scopes (record/scopes.h): a child for each, whose children are the backtraces that were taken in it.
// So what a scope adds lies in a list of its own, however many there were before.
#define UNDEAD_TRIE_SCOPES 7u
#define UNDEAD_RUN_BIT 0x80000000u
// In place of a return address: the scope. Indices of return addresses have 21 bits. With UNDEAD_RUN_BIT, below a scope: the id
// of the same backtrace in no scope.
#define UNDEAD_SCOPE_BIT 0x40000000u
// In the trie of runs, in place of a return address: the root of the runs of a generation (record/generations.h). So the
// innermost node of a backtrace says when it was taken, and what is outside of its run is shared by all generations.
#define UNDEAD_GENERATION_BIT 0x10000000u
// In the trie of runs, below the root of a generation: backtraces of blocks that were sampled (record/sample.h). The other
// bits are the mean of the sample, in units of 16 bytes.
#define UNDEAD_SAMPLE_BIT 0x08000000u
#define UNDEAD_SAMPLE_UNIT 16u
// Marks the return addresses of asynchronous callers (unwind/async_callers.h).
#define UNDEAD_ASYNC_BIT 0x20000000u
#define UNDEAD_FAN_BIT 0x80000000u
#define UNDEAD_PARENT_BIT 0x40000000u

extern uint32_t *undead_trie;

static inline __attribute__((always_inline)) undead_trie_node *undead_trie_at(uint32_t id) {
  return (undead_trie_node *)(undead_trie + id);
}

// The node that this one is called from; no root.
uint32_t undead_store_parent(uint32_t id);

// The nodes for `keys`, each called from that of the one before, and the first from `parent`. Finds the first node, or adds all of
// them at once; returns how many it wrote, 0 if the store is full. Only the last key may be a run.
uint32_t undead_store_path(uint32_t parent, const uint32_t *keys, uint32_t count, uint32_t *nodes);

uint32_t undead_store_child_slow(uint32_t parent, uint32_t pc_index);

// The node for `pc_index` called from `parent`, added if new; 0 if the store is full.
static inline __attribute__((always_inline)) uint32_t undead_store_child(uint32_t parent, uint32_t pc_index) {
  uint32_t first = __atomic_load_n(&undead_trie_at(parent)->child, __ATOMIC_ACQUIRE);
  if (!(first & UNDEAD_FAN_BIT) && undead_trie_at(first)->pc_index == pc_index && first) return first;
  return undead_store_child_slow(parent, pc_index);
}

// Where the links to the first child of a node, and from one child to the next, stand.
static inline __attribute__((always_inline)) uint32_t undead_store_first_link(uint32_t node) {
  return node + (uint32_t)(offsetof(undead_trie_node, child) / sizeof(uint32_t));
}
static inline __attribute__((always_inline)) uint32_t undead_store_link_behind(uint32_t child) {
  return child + (uint32_t)(offsetof(undead_trie_node, sibling) / sizeof(uint32_t));
}

// The child that such a link leads to if it is that of `pc_index`, else 0.
static inline __attribute__((always_inline)) uint32_t undead_store_linked(uint32_t link, uint32_t pc_index) {
  uint32_t child = __atomic_load_n(undead_trie + link, __ATOMIC_ACQUIRE);
  bool is_node = child - 1 < UNDEAD_PARENT_BIT - 1;   // no fan, no end
  return is_node && undead_trie_at(child)->pc_index == pc_index ? child : 0;
}

// Maps the store; false without memory. Any thread, any number of times.
bool undead_store_prepare(void);

// The process may not have more than `limit` bytes of addresses from now on: gives back most of what is only reserved.
void undead_store_limit(uint64_t limit);

// The empty backtrace of the newest generation: what a block without a backtrace is recorded with.
extern uint32_t undead_backtrace_none;

// The root of the runs of the newest generation.
uint32_t undead_store_runs(void);

// Later backtraces belong to generation `number`; false if the store has no room for another one. Whatever keeps nodes of
// runs has to forget them afterwards. Any thread, also in a signal handler: the highest number stays.
bool undead_store_begin_generation(uint32_t number);

// False if so much of the store is in use that another generation might not find room for its backtraces.
bool undead_store_has_room(void);

// The generation of a backtrace, 0 if it was taken before the first one began.
uint32_t undead_store_generation(uint32_t id);

// Adds a whole backtrace to the newest generation, given innermost first; its id, or 0 if the store is full.
uint32_t undead_store_add(const uint32_t *pc_indices, uint32_t count);

// The same for a block of that generation that was sampled with that mean (a multiple of UNDEAD_SAMPLE_UNIT).
uint32_t undead_store_add_sampled(const uint32_t *pc_indices, uint32_t count, uint32_t generation, uint32_t mean);
// The mean that a backtrace was sampled with, 0 if it was not.
uint32_t undead_store_sample_mean(uint32_t id);

// The empty backtrace of a generation.
uint32_t undead_store_none_of(uint32_t generation);

// Writes the indices of the return addresses of a backtrace, innermost first; returns how many.
uint32_t undead_store_read(uint32_t id, uint32_t *pc_indices, uint32_t max);

// What a thread knows of backtraces in scopes: nodes that it made, which stand in no list, as most are looked for only here. In a
// scope it makes so many, and shares the others with all threads: so a scope needs no more than that, however often it allocates.
#define UNDEAD_SCOPED_NODES 1024u
#define UNDEAD_MOST_UNLISTED 1024u
typedef struct {
  uint32_t newest;   // node of the newest scope
  uint32_t left;     // that may be made in it
  uint64_t nodes[UNDEAD_SCOPED_NODES];   // above the node half of a hash: the words of others are not even looked at
} undead_scoped_nodes;

// The id of a backtrace in a scope; 0 if the store is full. `*scope_node`: what was found for the scope that was asked for last,
// or 0. `known` may be NULL.
uint32_t undead_store_in_scope(uint32_t id, uint32_t scope, uint32_t *scope_node, undead_scoped_nodes *known);
// The same backtrace in no scope.
uint32_t undead_store_unscoped(uint32_t id);
// The scope of a backtrace, 0 if it has none.
uint32_t undead_store_scope(uint32_t id);

// The node of the run of the UNDEAD_RUN_FRAMES innermost frames of a backtrace, 0 if they are not in one.
uint32_t undead_store_run(uint32_t id);

// Forgets all backtraces and generations. Not while anybody captures.
void undead_store_clear(void);

// Words in use: an upper bound of the ids.
uint32_t undead_store_count(void);

#pragma GCC visibility pop
