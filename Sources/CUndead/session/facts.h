// What the layers above told a check, kept until its snapshot is written.
#pragma once
#include "include/undead_facts.h"
#include "session/vector.h"

#pragma GCC visibility push(hidden)

// All texts are offsets in `texts`, all frames are ranges in `frames`.
typedef struct { uintptr_t object; uint32_t scope, first_frame, frame_count; } undead_watched_fact;
typedef struct { uintptr_t object, loop; uint32_t loop_name, modes, kind, name; } undead_run_loop_fact;
typedef struct { uint32_t kind, message, details, first_frame, frame_count; } undead_diagnostic_fact;

struct undead_facts {
  undead_vector texts, frames;
  undead_vector watched;        // undead_watched_fact
  undead_vector run_loop_items; // undead_run_loop_fact
  undead_vector diagnostics;    // undead_diagnostic_fact
  undead_vector notes;          // uint32_t
  uint32_t run_loops;           // JSON text, 0 if there is none
  bool failed;                  // no memory: something is missing
};

// Asks all sources. Runs code of the layers above: on the check's thread, with the program's threads running.
void undead_facts_collect(undead_facts *facts);
const char *undead_facts_text(const undead_facts *facts, uint32_t offset);
void undead_facts_free(undead_facts *facts);

#pragma GCC visibility pop
