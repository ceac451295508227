// What layers above know of an instrument that may not be there: the types of what they tell it, and the table of its
// functions. A program has the table if it links Undead, or was started under the tool. A caller puts
// nothing of the instrument into the program, above all none of its hooks.
#pragma once
#include "undead_version.h"
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

// A timer, display link or source that a run loop holds. Retain paths that come to `object` start at the run loop.
typedef struct {
  const void *object;           // the timer object
  const void *loop;             // the run loop object
  const char *loop_name;        // "main"
  const char *modes;            // "default", or several with ", " between
  const char *kind;             // "timer", "display link", "source"
  const char *name;             // name of the timer, "" if it has none
} undead_run_loop_item;

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

// Runs the run loop of the calling thread for at most `nanoseconds`. Returns false, early, if the thread has none or
// the loop has nothing to wait for.
typedef bool (*undead_run_loop_runner)(int64_t nanoseconds);

#define UNDEAD_INSTRUMENT_VERSION 1u

// The kind of a zombie that is the target of a timer (`undead_zombie_kind`).
#define UNDEAD_INSTRUMENT_TIMER_TARGET 8u

// The functions, each described where it is declared. The tool that starts a program may be newer or older than the
// layers in it. A later version adds entries at the end; who knows it knows the earlier ones, too.
typedef struct {
  bool (*is_active)(void);
  bool (*add_facts_source)(undead_facts_source source, void *context);
  void (*set_run_loop_runner)(undead_run_loop_runner runner);
  void (*add_run_loop_item)(undead_facts *facts, const undead_run_loop_item *item);
  void (*add_diagnostic)(undead_facts *facts, const undead_diagnostic *diagnostic);
  void (*set_run_loops)(undead_facts *facts, const char *json);
  void (*add_note)(undead_facts *facts, const char *note);
  uint32_t (*allocation_backtrace)(const void *block, uintptr_t *frames, uint32_t max);
  uint32_t (*caller_backtrace)(uintptr_t *frames, uint32_t max);
  uint32_t (*thread_backtrace)(int32_t tid, uintptr_t *frames, uint32_t max);
  bool (*closure_knows_only_dead)(const void *context, char *type, size_t size);
  bool (*zombies_are_active)(void);
  bool (*zombie_report)(uint32_t kind, const void *object, const char *type, uintptr_t function);
  bool (*facts_are_last)(void);
} undead_instrument;

// The instrument that is in charge of this process, or NULL: there is none, or one that knows no such version.
const undead_instrument *undead_find_instrument(void);

// Defined by the instrument: its table, NULL for versions that it does not know. Ask undead_find_instrument().
const undead_instrument *undead_instrument_table(uint32_t version);

#ifdef __cplusplus
}
#endif
