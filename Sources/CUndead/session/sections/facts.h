// What the layers above pass to a check, kept until its snapshot is written.
#pragma once
#include "undead_facts.h"
#include "scan/scan.h"
#include "session/buffers/buffers.h"

#pragma GCC visibility push(hidden)

// All texts are offsets in `texts`, all frames are ranges in `frames`.
typedef struct { uint32_t scope, first_frame, frame_count; } undead_watched_fact;
typedef struct { uint32_t loop_name, modes, kind, name; } undead_run_loop_fact;
typedef struct { uint32_t kind, message, details, first_frame, frame_count; } undead_diagnostic_fact;
typedef struct { uint32_t diagnostic, role, first_frame, frame_count; } undead_trace_fact;

struct undead_facts {
  undead_vector texts, frames;
  undead_vector watched, targets;        // undead_watched_fact, and for each what the scan needs: undead_watched_target
  undead_vector run_loop_items, items;   // undead_run_loop_fact, and for each undead_loop_item
  undead_vector diagnostics, traces;     // undead_diagnostic_fact, undead_trace_fact
  undead_vector notes;                   // uint32_t
  uint32_t run_loops;                    // JSON text, 0 if there is none
  uint64_t dropped;                      // watched objects, items and diagnostics beyond the limits
  bool failed;                           // no memory: something is missing
};

// True if there is anybody to ask.
bool undead_facts_have_sources(void);
// Asks all sources. Runs code of the layers above: on the check's thread, with the program's threads running.
void undead_facts_collect(undead_facts *facts);
const char *undead_facts_text(const undead_facts *facts, uint32_t offset);
void undead_facts_free(undead_facts *facts);

// Asks all sources on a thread of its own, which has ended when this returns: what they leave behind belongs to the
// program, like whatever its own threads do. Returns NULL if there are none; to be given back with
// undead_facts_release. One call at a time. A thread that does not answer within so many milliseconds is left to itself.
undead_facts *undead_facts_gather(int64_t patience);
void undead_facts_release(undead_facts *facts);

#pragma GCC visibility pop
