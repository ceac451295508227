// Facts that the layers above know and a check needs: objects that should be dead by now, what run loops hold, what
// went wrong on the way. A check asks for them before it scans, while the program goes on.
#pragma once
#include "undead_instrument.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Asks `source` in every later check. Returns false if there are too many sources. Thread-safe.
bool undead_add_facts_source(undead_facts_source source, void *context);

// Whether the process ends, so that no later check asks.
bool undead_facts_are_last(void);

// An object that outlived its owner scope, and is alive: the source holds it while it reports it. If it can be reached, the
// report shows on which path. As long as somebody refers to it weakly, no later object at its address is taken for it.
typedef struct {
  const void *object;
  const char *scope;            // name of the scope
  const uintptr_t *frames;      // where the scope ended: return addresses, innermost first
  uint32_t frame_count;
} undead_watched_object;
void undead_facts_add_watched(undead_facts *facts, const undead_watched_object *watched);

// Likewise an object of the class `isa` that may be gone by now: nothing is read at `object` before the program stands
// still.
void undead_facts_add_candidate(undead_facts *facts, const void *object, uintptr_t isa, const char *scope);

// A timer, display link or source that a run loop holds.
void undead_facts_add_run_loop_item(undead_facts *facts, const undead_run_loop_item *item);

// An entry of the report's diagnostics.
void undead_facts_add_diagnostic(undead_facts *facts, const undead_diagnostic *diagnostic);

// A text for the report that the layer above made: the state of all run loops, as JSON.
void undead_facts_set_run_loops(undead_facts *facts, const char *json);

// A sentence for the notes of the report.
void undead_facts_add_note(undead_facts *facts, const char *note);

#ifdef __cplusplus
}
#endif
