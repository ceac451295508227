// Snapshots (Documentation/snapshot-format.md): what a scan found, with its names, as one file or block of memory.
#pragma once
#include "scan/graph.h"
#include "scan/scan.h"
#include "session/buffers/buffers.h"
#include "session/sections/facts.h"
#include "session/state/check_data.h"

#pragma GCC visibility push(hidden)

// Before the scan: opens the file, and prepares what else the check wants to be in it; the reason of a failure goes to the
// check. Afterwards, in any case, comes undead_snapshot_end.
bool undead_snapshot_begin(undead_check *check);
// Closes the file, and removes it if it was not completed.
void undead_snapshot_end(undead_check *check);

// Names what the scan found and writes it where the check wants it; the reason of a failure goes to the check.
bool undead_snapshot_make(undead_check *check, const undead_scan_result *result);

// Removes the file that was being written when undead_snapshot_make was left by a crash.
void undead_snapshot_discard(void);

// Bytes of the header and the section table, behind which everything else lies.
uint64_t undead_snapshot_room(void);

// Writes a whole snapshot to `output`; errors stay there.
void undead_snapshot_serialize(undead_output *output, const undead_check *check, const undead_scan_result *result);

// Census files: how many live blocks of each type there are, as a snapshot without leaks.

// Counts and writes what the tool asked for; the reason of a failure goes to the check.
void undead_census_on_request(undead_check *check);

// The check is to count the blocks by type, and no more; false without memory. After its scan the layouts of these types are learned, so
// that they have names in the file.
bool undead_census_begin(undead_check *check);
void undead_census_learn(const undead_check *check);

// What a snapshot says about its process: the sections META, COUNTERS and NOTES.

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
