// What suspects.c and suspect_graph.c share.
#pragma once
#include "platform/processor/words.h"
#include "scan/suspects/suspect_owners.h"

#define UNDEAD_MOST_ALONE (1u << 16)   // objects that one thing alone keeps, without a field for it
enum { UNDEAD_SOURCE_BYTES = 104 };   // the least that a dispatch source or its `refs` takes

bool undead_is_source_memory(const undead_suspects *suspects, uintptr_t block);
bool undead_is_source_of_stream(const undead_suspects *suspects, uintptr_t block);
// Where in the block the `refs` of a source begin, with its handlers; 0 if they do not.
uintptr_t undead_source_refs_in(const undead_suspects *suspects, uintptr_t block);
// A read or write of DispatchIO: it has its handler until it ends, and leads to its channel.
static inline bool undead_is_operation(const undead_suspects *suspects, uintptr_t block) {
  return suspects->operation_vtable && word_at(block) == suspects->operation_vtable;
}
// True for one that is not cancelled, for such an operation, and for what a channel uses its descriptor by.
bool undead_is_active_source(const undead_suspects *suspects, uintptr_t block);
bool undead_is_framework_edge(const undead_suspects *suspects, uintptr_t from, uintptr_t to);
// Whether `block` is memory of the task that `task` is a part of, as one of its group.
bool undead_is_parent_memory(const undead_suspects *suspects, uintptr_t block, uintptr_t task);
// The blocks (in the sense of C) that a source calls and that something else has, too.
void undead_each_handler_block(const undead_suspects *suspects, uintptr_t refs, void (*visit)(void *context, uintptr_t block),
                               void *context);
void undead_each_registration(const undead_suspects *suspects, uintptr_t table,
                              void (*visit)(void *context, uintptr_t closure, uint64_t key), void *context);

// Tags the run loops' items that are reachable, and what the loops hold them by. False without memory.
bool undead_loop_items_tag(undead_suspects *suspects);
// True for a tagged item of a run loop.
bool undead_is_loop_item(const undead_suspects *suspects, uintptr_t block, const undead_layout *layout);

// Looks among the blocks that only the first pass reached for cycles of something that fires or waits and an object of
// the program. False without memory.
bool undead_suspect_graph_search(undead_suspects *suspects, const undead_suspect_owners *owners, uint32_t max_found,
                                 uint32_t max_links);
