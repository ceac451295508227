// What makes a snapshot a heap file (Documentation/heap-format.md).
#pragma once
#include "glibc/heap.h"
#include "scan/graph.h"
#include "session/state/check_data.h"
#include "session/sections/snapshot_sections.h"

#pragma GCC visibility push(hidden)

// Places the streams, which are in the file already, and names what they refer to. Nothing if the check wants no heap.
void undead_heap_sections_write(undead_writer *writer, const undead_check *check);

// Accounts for the resident memory of the process (heap_memory.c).
void undead_heap_memory_write(undead_writer *writer, const undead_graph *graph);
// How glibc's malloc has cut up its memory, and which pages of it are there (heap_malloc.c).
void undead_heap_malloc_write(undead_writer *writer, const undead_graph *graph);
typedef void (*undead_malloc_visitor)(void *context, undead_glibc_area part, bool main);
void undead_malloc_parts_each(undead_malloc_visitor visit, void *context);

#pragma GCC visibility pop
