// What suspects.c and suspect_graph.c share.
#pragma once
#include "platform/processor/words.h"
#include "scan/bodies/references.h"
#include "scan/counts/tally.h"
#include "scan/suspects/suspects.h"

// Which blocks that the second pass did not reach by certain references have their owners among themselves.
//
// A suspect is a warning, so that less must be proved than of garbage (scan/counts/counts.h): a block that is referred to by
// others of this list, and by what fires it, as often as its count says is theirs, whatever a word of a stack or of a
// task's frame says.

typedef struct {
  undead_suspects *suspects;
  const undead_heap *heap;
  undead_tally tally;          // `counted`: references from blocks of the list that are counted, or as good as that
  const undead_body *body;     // whose words are counted
} undead_suspect_owners;

// After the roots of the second pass: marks what weak evidence names, unless its owners are known. False without memory.
bool undead_suspect_owners_open(undead_suspect_owners *owners, undead_suspects *suspects);
void undead_suspect_owners_close(undead_suspect_owners *owners);

// Whether other blocks of the list own all of `block`.
bool undead_suspect_is_owned(const undead_suspect_owners *owners, uintptr_t block);

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

// The continuations that sources of libdispatch call: what the memory of a source names in these places certainly is one, where no
// backtrace says who made it.

// After the first pass: has the bodies know them. False without memory.
bool undead_suspect_handlers_find(undead_suspects *suspects);

// Words of frames of suspended tasks that own no object of the program (idle_words.c).

// False without memory.
bool undead_idle_words_find(undead_suspects *suspects);
// Of a word in a block: whether it is doubtful, and does not own the object of the program that it names.
bool undead_is_idle_word(const undead_suspects *suspects, const undead_reference *reference);

// Tasks and timers whose closures know weakly nothing but objects that are gone: what they do in a loop, they do for nobody.

// After the first pass: adds them to what was found. Whether a task is in a loop is known when the world runs again.
void undead_dead_owners_find(undead_suspects *suspects, uint32_t max_found);
