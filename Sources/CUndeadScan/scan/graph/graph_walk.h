// Streams the heap of the stopped program, or of a copy of it, into a heap file.
#pragma once
#include "scan/graph/graph_tables.h"
#include "scan/scan.h"
#include "scan/graph/stream.h"
#include "scan/view/view.h"

typedef struct {
  undead_graph *graph;
  undead_graph_tables tables;
  undead_stream stream;
  undead_ranks ranks;
  undead_bodies *bodies;
  const undead_heap *heap;
  bool only_tasks;   // who reads the file asks for no slices
} undead_graph_writer;

// After the marks were made. Does not fail: what went wrong is in `graph->error`.
void undead_graph_write(undead_graph *graph, undead_bodies *bodies, const undead_view *view, const undead_world *world,
                        const undead_scan_options *options);

// What the runtime's records say of a task, and of its `async let` tasks, which are no blocks (graph_tasks.c).
void undead_graph_note_task(undead_graph_writer *writer, uintptr_t task, uint32_t type);

// A word named `address` in a block: listed if a task of `async let` begins there. `from`: of undead_graph_inner_word.
void undead_graph_note_inner(undead_graph_writer *writer, uintptr_t address, uintptr_t block, uint64_t from);

// Of a block that may be a queue, the next one to be written: its label.
void undead_graph_note_queue(undead_graph_writer *writer, uintptr_t block, size_t size, uint32_t rank);

// Of a block that may be what a timer of libdispatch owns: when it fires.
void undead_graph_note_timer(undead_graph_writer *writer, uintptr_t block, size_t size);

// The second stream (graph_roots.c).
void undead_graph_write_roots(undead_graph_writer *writer, const undead_view *view, const undead_world *world,
                              const undead_scan_options *options);
