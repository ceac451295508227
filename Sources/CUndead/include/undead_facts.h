// Facts that the layers above know and a check needs: objects that should be dead by now, what run loops hold, what
// went wrong on the way. A check asks for them before it scans, while the program goes on.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Collects the facts of one check. Its functions copy all that they are given, and may only be called by a source.
typedef struct undead_facts undead_facts;

// Tells what it knows, on a thread made for it. It must not wait for long for a lock: an interrupted thread may hold it
// for good. After 10 seconds the check goes on without any facts.
typedef void (*undead_facts_source)(undead_facts *facts, void *context);

// Asks `source` in every later check. Returns false if there are too many sources. Thread-safe.
bool undead_add_facts_source(undead_facts_source source, void *context);

// An object that outlived its owner scope, and is alive: the source holds it while it tells. If it can be reached, the
// report tells on which path. As long as somebody refers to it weakly, no later object at its address is taken for it.
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

// A timer, display link or source that a run loop holds. Retain paths that come to `object` start at the run loop.
typedef struct {
  const void *object;           // the timer object
  const void *loop;             // the run loop object
  const char *loop_name;        // "main"
  const char *modes;            // "default", or several with ", " between
  const char *kind;             // "timer", "display link", "source"
  const char *name;             // name of the timer, "" if it has none
} undead_run_loop_item;
void undead_facts_add_run_loop_item(undead_facts *facts, const undead_run_loop_item *item);

// A further backtrace of a diagnostic.
typedef struct {
  const char *role;             // "creation", "scheduling", "invalidation", ...
  const uintptr_t *frames;      // return addresses, innermost first
  uint32_t frame_count;
} undead_trace;

// An entry of the report's diagnostics.
typedef struct {
  const char *kind;             // as in the report: "lateFire"
  const char *message;          // one sentence
  const char *details;          // JSON object with string values, or NULL
  const uintptr_t *frames;      // the one that matters most: return addresses, innermost first
  uint32_t frame_count;
  const undead_trace *traces;   // others that are known
  uint32_t trace_count;
} undead_diagnostic;
void undead_facts_add_diagnostic(undead_facts *facts, const undead_diagnostic *diagnostic);

// A text for the report that the layer above made: the state of all run loops, as JSON.
void undead_facts_set_run_loops(undead_facts *facts, const char *json);

// A sentence for the notes of the report.
void undead_facts_add_note(undead_facts *facts, const char *note);

#ifdef __cplusplus
}
#endif
