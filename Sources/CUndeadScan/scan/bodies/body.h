// Which words of a block can hold references that keep something alive.
#pragma once
#include "platform/processor/processor.h"
#include "runtime/layout.h"
#include "runtime/types.h"
#include "scan/bodies/elements.h"
#include "scan/blocks/heap.h"
#include "scan/blocks/worklist.h"
#include "scan/bodies/makers.h"
#include "scan/stacks/stale.h"

#define UNDEAD_LAYOUT_CACHE 1024u
#define UNDEAD_KIND_CACHE 256u
#define UNDEAD_PLAN_CACHE 512u
#define UNDEAD_MOST_SKIPS 256u          // of an object whose existentials are looked into
#define UNDEAD_COMPLEMENT_TOP (~0ull >> UNDEAD_ADDRESS_BITS)   // upper bits of the complement of an address of the program

typedef struct {
  uintptr_t block;
  uintptr_t low, high;      // 8-aligned; the words to look at
  const uint32_t *skip;     // offsets from the block of words that keep nothing alive, ascending
  uint32_t skip_count;
  uintptr_t isa;            // of a Swift object of known type, else 0
  const undead_layout *layout;   // NULL if the type is not known
  bool side_table;
  bool unsure;              // memory of the program may look the same: what `skip` lists counts as numbers
  uintptr_t frames;         // from here on what may be out of use, as in frames of a suspended task, or in an array that is being
                            // changed (UNDEAD_EVIDENCE_PERHAPS); `high` if there is nothing
  uintptr_t loose_low, loose_high;   // the same in front of it, of memory without a type; 0 if there is nothing
  bool changing;            // storage that a thread may be changing, so that `elements` says less than the type does
  undead_elements elements; // in use, if that is known for certain
} undead_body;

// What there is to look at in any object of a class (scan/bodies/plain.h). Bit k: of the word at 8 * k.
typedef struct {
  uintptr_t isa;
  bool plain;               // the rest is known, and all that there is to know
  bool counted;             // what begins like an object of it has to have a count, too (undead_block_layout)
  bool zero_is_nothing;     // a word that is 0 names no block, whatever it may stand for
  uint32_t word_count;      // that the type describes
  const uint8_t *words;     // undead_evidence
  bool has_weak;            // some of its words keep nothing alive
  uint64_t references;      // words that are looked at as what a type says they are
  uint64_t untyped;         // words that may be in disguise (undead_is_untyped)
  uint64_t straddling;      // those of them that an address may begin in, and end in the next
} undead_plan;

typedef struct undead_bodies {
  const undead_heap *heap;
  const undead_stale *stale;
  undead_makers *makers;  // NULL: looks alone tell what an object is
  // Types of what waits for descriptors and signals; first word of channels; 0 if there are none.
  uintptr_t source_of_reads, source_of_writes, source_of_signals, io_class;
  uintptr_t serial_queue, concurrent_queue;   // first words of queues of libdispatch; 0 if there are none
  uint32_t queue_label;   // where the address of a queue's label lies in it; 0: not known
  uintptr_t closure_of_c; // first word of a block in the sense of C that was copied to the heap; 0 if there are none
  bool exact;     // leave out the unused elements of all collections: for explanations only
  uintptr_t *held;        // storage that a thread may be changing, and memory of tasks that may be running, ascending (scan/bodies/held.h);
                          // NULL: all of it
  uint32_t held_count;
  bool met_unsure;        // objects of which nothing says that they are some (scan/mark/mark.h)
  bool doubts_unsure;     // what such may be keeps alive what its weak and unowned words name, unless the counts say otherwise
  undead_address_set sure;       // blocks of which that is not so
  undead_address_set handlers;   // continuations that sources call (scan/suspects/suspect_graph.h)
  struct {
    uintptr_t isa;
    const undead_layout *layout;
  } cache[UNDEAD_LAYOUT_CACHE];   // of undead_layout_of
  struct {
    uintptr_t isa;
    size_t size;
    undead_kind kind;
  } kinds[UNDEAD_KIND_CACHE];     // of undead_classify
  uint32_t skips[UNDEAD_MOST_SKIPS];   // of the last body with existentials
  undead_plan plans[UNDEAD_PLAN_CACHE];
} undead_bodies;

// `body` is valid until the next call.
void undead_body_of(undead_bodies *bodies, uintptr_t block, size_t size, undead_body *body);
// Takes an array or ring that a thread may be changing for what it says that it is. True of garbage: who changes a variable keeps what
// the variable belongs to.
void undead_body_settle(undead_body *body, size_t size);
// What is known of the word at `at` of the body (an address from `low` on), never one of the grades that are only for tables.
// That a word counts, or does not, is true while no thread changes the object; raw is always true.
undead_evidence undead_body_evidence(const undead_body *body, uintptr_t at);
// Of the word at `at`, of a value whose words are `words`, which is the one at `index`, of an existential's buffer: NONE if the
// value in the buffer does not use it, NUMBER if it is one, else BUFFER.
undead_evidence undead_evidence_of_buffer(const uint8_t *words, size_t index, uintptr_t at);
// Whether undead_body_of, the walk of the body, and what notes it need nothing that only one thread may read at a time:
// types of values in existentials and what is a side table, which are kept in tables of all.
bool undead_body_is_shareable(undead_bodies *bodies, uintptr_t block, size_t size);
const undead_layout *undead_body_layout(undead_bodies *bodies, uintptr_t first_word);
// Learns the type that objects with this first word have, if it is one. Needs the memory map.
bool undead_body_learn(undead_bodies *bodies, uintptr_t first_word);
// Whether `address`, in `block`, lies in a task's memory, and no task begins there (one of `async let` may, in that of
// another). Nobody owns a task by such an address: what it holds lives as long as the task does.
bool undead_is_inside_task(undead_bodies *bodies, uintptr_t block, uintptr_t address);
// Whether the block is an object, by its looks, and has weak or unowned words, and nothing says who made it.
bool undead_is_unsure(undead_bodies *bodies, uintptr_t block, size_t size);
// That of the object at `block`; NULL if its type is not known, or other memory begins like one.
const undead_layout *undead_block_layout(undead_bodies *bodies, uintptr_t block, size_t size);

// What kind of object certainly starts at `block`; needs the memory map.
undead_kind undead_body_kind(undead_bodies *bodies, uintptr_t block, size_t size);

// The object whose side table (of weak references) `block` is, 0 if it is none.
uintptr_t undead_side_table_owner(const undead_heap *heap, uintptr_t block, size_t size);

// libdispatch stores the complement of a source's address in what the source owns: the block meant, 0 if none.
uintptr_t undead_complement_target(const undead_heap *heap, uintptr_t word);

// What a channel of DispatchIO uses its descriptor by, 0 if the block is none: it has the cleanup handlers of the channels of this
// descriptor, and calls them when the last one is closed or gone.
uintptr_t undead_entry_of_channel(const undead_bodies *bodies, uintptr_t block);

// True if the object at `block` has run its deinit and is only kept by unowned references.
bool undead_is_deiniting(const undead_heap *heap, uintptr_t block);
// The strong references that are counted at the object at `block`; 0 if that is not known, or it never dies.
uint64_t undead_strong_count(const undead_heap *heap, uintptr_t block);
// The weak and unowned references that are counted there, without its own one of each; 0 if that is not known.
uint64_t undead_outside_count(const undead_heap *heap, uintptr_t block);
