// The sections of a snapshot while they are written.
#pragma once
#include "glibc/heap.h"
#include "scan/graph.h"
#include "session/buffers/buffers.h"
#include "session/sections/facts.h"
#include "session/sections/snapshot_tables.h"
#include "session/state/check_data.h"

#pragma GCC visibility push(hidden)

enum {
  UNDEAD_SECTION_STRINGS = 1, UNDEAD_SECTION_META, UNDEAD_SECTION_COUNTERS, UNDEAD_SECTION_MODULES,
  UNDEAD_SECTION_TYPES, UNDEAD_SECTION_NODES, UNDEAD_SECTION_EDGES, UNDEAD_SECTION_STACKS, UNDEAD_SECTION_FRAMES,
  UNDEAD_SECTION_PATHS, UNDEAD_SECTION_STEPS, UNDEAD_SECTION_SUSPECTS, UNDEAD_SECTION_NOTES,
  // 14 to 16 are written by others.
  UNDEAD_SECTION_DIAGNOSTICS = 17, UNDEAD_SECTION_WATCHED, UNDEAD_SECTION_LOOP_ITEMS, UNDEAD_SECTION_RUN_LOOPS,
  UNDEAD_SECTION_TRACES, UNDEAD_SECTION_OWNERS,
  UNDEAD_SECTION_HEAP_GRAPH, UNDEAD_SECTION_HEAP_SHAPES, UNDEAD_SECTION_HEAP_SITES, UNDEAD_SECTION_HEAP_PLACES,
  UNDEAD_SECTION_HEAP_ROOTS, UNDEAD_SECTION_HEAP_ROOT_EDGES, UNDEAD_SECTION_HEAP_MEMORY,
  UNDEAD_SECTION_HEAP_GENERATIONS, UNDEAD_SECTION_CENSUS, UNDEAD_SECTION_HEAP_WAITS,
  UNDEAD_SECTION_ALLOCATIONS,
  UNDEAD_SECTION_REFUTED = 36, UNDEAD_SECTION_HEAP_MALLOC, UNDEAD_SECTION_HEAP_ROOT_WORDS, UNDEAD_SECTION_HEAP_HOLDERS,
  UNDEAD_SECTION_HEAP_STACKS, UNDEAD_SECTION_HEAP_TASKS = 43,   // the tool adds 41 and 42
  UNDEAD_SECTION_OWNER_FIELDS, UNDEAD_SECTION_HEAP_STACK_WORDS, UNDEAD_SECTION_HEAP_INNER_WORDS,
  UNDEAD_SECTION_HEAP_QUEUES, UNDEAD_SECTION_HEAP_TASK_MEMORY,
};
#define UNDEAD_SECTION_COUNT 46   // that this code writes

typedef struct {
  uint32_t kind, entry_size;
  uint64_t offset, bytes, entries;
} undead_section;
_Static_assert(sizeof(undead_section) == 32, "the layout is a contract");

typedef struct {
  undead_output *output;
  const undead_scan_result *result;
  undead_tables tables;
  undead_section sections[UNDEAD_SECTION_COUNT];
  uint32_t section_count;
} undead_writer;

undead_section *undead_section_begin(undead_writer *writer, uint32_t kind, uint32_t entry_size);
void undead_section_add(undead_writer *writer, undead_section *section, const void *entry);
void undead_section_write(
    undead_writer *writer, uint32_t kind, uint32_t entry_size, const void *entries, size_t bytes);

// A section whose bytes are in the file already.
void undead_section_place(undead_writer *writer, uint32_t kind, uint64_t offset, uint64_t bytes);

// The facts of the layers above; empty sections if that is NULL.
void undead_section_write_facts(undead_writer *writer, const undead_facts *facts);
// String with the name of the loop that holds an item.
uint32_t undead_section_loop_name(undead_writer *writer, const undead_facts *facts, uint32_t item);

// What makes a snapshot a heap file (Documentation/heap-format.md).

// Places the streams, which are in the file already, and names what they refer to. Nothing if the check wants no heap.
void undead_heap_sections_write(undead_writer *writer, const undead_check *check);

// Accounts for the resident memory of the process (heap_memory.c).
void undead_heap_memory_write(undead_writer *writer, const undead_graph *graph);
// How glibc's malloc has cut up its memory, and which pages of it are there (heap_malloc.c).
void undead_heap_malloc_write(undead_writer *writer, const undead_graph *graph);
typedef void (*undead_malloc_visitor)(void *context, undead_glibc_area part, bool main);
void undead_malloc_parts_each(undead_malloc_visitor visit, void *context);

// The section of a census file: how many live blocks of each type there are.

// Nothing where the check counts no types.
void undead_census_write(undead_writer *writer, const undead_check *check);

// What a snapshot says of leaks that earlier checks found and that turned out to be none (record/claims.h).

// Nothing if there are none.
void undead_refuted_write(undead_writer *writer);

// What a snapshot says of a sample of the allocations (record/sample.h).

// Estimates of what each backtrace has allocated since the start; nothing if allocations are not sampled.
void undead_samples_write(undead_writer *writer);

#pragma GCC visibility pop
