// What a snapshot says about its process: the sections META, COUNTERS and NOTES.
#pragma once
#include "scan/graph.h"
#include "scan/scan.h"
#include "session/sections/facts.h"
#include "session/buffers/string_table.h"

#pragma GCC visibility push(hidden)

typedef struct {
  undead_string_table *strings;
  undead_vector meta;       // pairs of strings
  undead_vector counters;   // string, 0, 64-bit number
  undead_vector notes;      // strings
  bool failed;
} undead_process_facts;

// `told` may be NULL.
void undead_process_facts_collect(undead_process_facts *facts, const char *trigger, const undead_scan_result *result,
                                  const undead_facts *told);
// What is known of the heap in the file; `graph` is NULL if there was no memory for it.
void undead_process_facts_add_heap(undead_process_facts *facts, const undead_graph *graph);
// Says that it is a census file, which has no leaks.
void undead_process_facts_add_census(undead_process_facts *facts);
void undead_process_facts_free(undead_process_facts *facts);

#pragma GCC visibility pop
