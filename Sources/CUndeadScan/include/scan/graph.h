// The whole graph of the heap, for a heap file (Documentation/heap-format.md): blocks and references go into a file as
// they are met; what they have in common is said once, in tables that are named when the program runs again.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// What blocks of one kind are: a Swift type, or memory that begins with the address of something in an image.
typedef struct {
  uintptr_t isa;
  uint64_t key;            // distinguishes types that share an isa
  uintptr_t sample;        // one of the blocks, and its size
  uint64_t sample_size;
  uint32_t kind;           // undead_kind
  uint32_t first_frame, frame_count;   // of tasks: where they wait
  uint32_t status;                     // and what they do (TaskState.swift)
} undead_graph_type;

typedef struct {
  uint32_t type;           // UINT32_MAX: memory of which nothing is known
  uint32_t flags;          // UNDEAD_SHAPE_*
  uint64_t size;
} undead_graph_shape;
#define UNDEAD_SHAPE_REACHED 1u
#define UNDEAD_SHAPE_COUNTED 2u      // a strong count follows
#define UNDEAD_SHAPE_CONTENTS 4u
#define UNDEAD_SHAPE_HASH 8u
#define UNDEAD_SHAPE_DEINIT 16u
#define UNDEAD_SHAPE_NO_COUNT 32u

typedef enum {
  UNDEAD_STRENGTH_COUNTED = 0, UNDEAD_STRENGTH_RAW, UNDEAD_STRENGTH_WEAK, UNDEAD_STRENGTH_PERHAPS,
} undead_strength;

// Where references of one kind lie; the words are those of the first one.
typedef struct {
  uint32_t type, target_type;   // UINT32_MAX: not known
  uint32_t offset;              // in the element, if it is one
  uint32_t sample_offset;       // in the block
  uint32_t strength, flags;     // undead_strength, UNDEAD_PLACE_*
  uintptr_t value, companion;
  uintptr_t function;           // of the closure whose context the word is, 0 if it is none: each has a place of its own
} undead_graph_place;
#define UNDEAD_PLACE_ELEMENT 1u
#define UNDEAD_PLACE_NEIGHBOURS 2u
#define UNDEAD_PLACE_IMPLIED 4u

typedef struct {
  uint32_t kind;           // undead_root_kind, or UNDEAD_ROOT_UNRECORDED
  uint32_t thread;
  uintptr_t address;       // of a variable; of a stack or other memory, where the mapping begins; 0: registers
  uint32_t item;           // of a run loop, UINT32_MAX for others
  uint32_t flags;          // UNDEAD_ROOT_DOUBTFUL, UNDEAD_ROOT_MAPPED, UNDEAD_ROOT_OF_RUNTIME
} undead_graph_root;
// What of a mapping is blocks.
typedef struct {
  uintptr_t address;       // of one of them
  uint64_t live;           // usable bytes of all
} undead_graph_area;

// The words around a reference from outside of all blocks that may be a slice, as those of places with UNDEAD_PLACE_NEIGHBOURS.
#define UNDEAD_SLICE_WORDS 7u
typedef struct {
  uint64_t edge;           // its number among those of roots
  uint64_t words[UNDEAD_SLICE_WORDS];
} undead_graph_slice;

// A chunk that a thread keeps for itself: free, but in use for its neighbours.
typedef struct {
  uintptr_t low, high;
} undead_graph_kept;
#define UNDEAD_KEPT_LIMIT (1u << 19)

// A field with the number of what may be an open file.
typedef struct {
  uint32_t block;          // in address order
  uint32_t descriptor;
  const char *field;
  uint32_t offset;         // of the number in the block
} undead_graph_holder;
// A queue of libdispatch that has a label.
typedef struct {
  uint32_t block;          // in address order
  uint32_t label;          // where in `task_names`
} undead_graph_queue;
#define UNDEAD_QUEUE_LIMIT (1u << 14)
// A task, as the runtime's own records have it: those of `async let` lie in the memory of their parents.
typedef struct {
  uintptr_t address, parent, group;
  uintptr_t waits_for;     // task, frame, group or executor, as `dependency` says
  uint32_t type;           // for its frames and what it does
  uint32_t id;
  uint32_t name;           // where in `task_names`, 0: it has none
  uint8_t dependency;      // UNDEAD_TASK_ON_*, 0: none, or not known
  uint8_t priority;
  uint16_t flags;          // UNDEAD_TASK_*
} undead_graph_task;
enum { UNDEAD_TASK_ON_TASK = 1, UNDEAD_TASK_ON_CONTINUATION, UNDEAD_TASK_ON_GROUP, UNDEAD_TASK_ON_EXECUTOR };
#define UNDEAD_TASK_ASYNC_LET 1u
#define UNDEAD_TASK_LOOPS 8u            // comes to where it waits again (set when the world runs)
#define UNDEAD_TASK_TIMER 16u           // no task, but a timer of libdispatch: `waits_for` is nanoseconds until it fires
#define UNDEAD_TASK_CANCEL_HANDLER 2u   // somebody is called when it is cancelled

// A slab of a task's memory that is a block of its own.
typedef struct {
  uintptr_t task;
  uint32_t block, task_block;   // in address order: the slab, and what the task lies in
} undead_graph_task_memory;

// A word that names a task in the memory of another one, as those of `async let` lie: references know only the block.
typedef struct {
  uint64_t from;           // the number of the block with the word, or UNDEAD_INNER_OF_ROOT and the number of the root's reference
  uintptr_t task;
} undead_graph_inner_word;
#define UNDEAD_INNER_OF_ROOT (1ull << 63)
#define UNDEAD_INNER_WORDS (1u << 20)   // if there are more, none is in the file

#define UNDEAD_ROOT_UNRECORDED 6u
#define UNDEAD_ROOT_DOUBTFUL 1u
#define UNDEAD_ROOT_MAPPED 2u       // memory that is no variable of an image
#define UNDEAD_ROOT_OF_RUNTIME 4u   // a variable of what resumes tasks

// A word of a stack, and the frames around it.
typedef struct {
  uint64_t edge;           // among those of roots
  uint32_t first_frame, frame_count;
} undead_graph_stack_word;
#define UNDEAD_STACK_WORDS (1u << 16)   // that are named
#define UNDEAD_GRAPH_FRAMES (1u << 20)

typedef struct undead_graph {
  int file;                // open for writing
  uint64_t start;          // where in it the stream is to begin
  uint64_t salt;           // of hashes
  undead_graph_type *types;     uint32_t type_count;
  undead_graph_shape *shapes;   uint32_t shape_count;
  undead_graph_place *places;   uint32_t place_count;
  undead_graph_root *roots;     uint32_t root_count;
  uint32_t *sites;              uint32_t site_count;   // backtrace ids
  uintptr_t *frames;            uint32_t frame_count;  // return addresses
  undead_graph_area *areas;     uint32_t area_count;
  undead_graph_slice *slices;   uint32_t slice_count;    // of what has no room here nothing is reported
  undead_graph_stack_word *stack_words; uint32_t stack_word_count;
  undead_graph_holder *holders; uint32_t holder_count;
  undead_graph_kept *kept;      uint32_t kept_count;     // only of a program that goes on (glibc/heap.h has those of a copy)
  undead_graph_task *tasks;     uint32_t task_count;
  undead_graph_task_memory *task_memory; uint32_t task_memory_count;
  undead_graph_queue *queues;   uint32_t queue_count;
  undead_graph_inner_word *inner_words; uint32_t inner_word_count;
  uintptr_t timer_type, after_type;                    // first words of what timers own; 0: not known
  char *task_names;             uint32_t task_name_bytes;   // and labels of queues
  uint32_t site_limit;
  uint64_t graph_bytes, root_offset, root_bytes;       // of the streams; the second begins at start + root_offset
  uint64_t blocks, edges, root_edges;
  uint64_t nanoseconds;
  int error;               // errno of what went wrong, 0: nothing; ENOSPC also for a table that is full
  bool complete;
} undead_graph;

// Whether memory without a type that was allocated there belongs to Swift code of the program. Looks symbols up: the world
// must be running.
bool undead_graph_is_raw_of_swift(uint32_t backtrace);

// Room for the graph that is streamed to `file` from `start` on; shared with forked copies if they are to fill it. NULL without
// memory.
undead_graph *undead_graph_open(int file, uint64_t start, bool shared);
void undead_graph_close(undead_graph *graph);
