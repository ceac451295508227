// The life of the instrument in one process: it starts before main, and looks for leaks when the program ends.
#pragma once
#include "scan/scan.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// 1 in the library made for LD_PRELOAD, 0 in a program or library that links Undead.
extern const int undead_is_preload;

// Reads the settings, decides whether this copy of the instrument works here, and begins the state file. Idempotent.
void undead_session_prepare(void);

// True if this copy records for a session (UNDEAD_SESSION), and so must write a snapshot when the program ends.
bool undead_session_in_charge(void);

typedef enum {
  UNDEAD_PROCESS_OWN,        // the process that the session was prepared in, or one that was adopted
  UNDEAD_PROCESS_FORKED,     // a forked copy that no fork handler announced (_Fork, clone)
  UNDEAD_PROCESS_BORROWED,   // a vfork child: our memory is its parent's and must not be changed
} undead_process;

// Which process runs this code. Async-signal-safe.
undead_process undead_process_now(void);

// After a fork: gives the child its own state file. Async-signal-safe.
void undead_session_adopt_child(void);
// The process that the session's was forked from without exec (0: none).
int32_t undead_session_forked_from(void);

// When this process started, or was forked, in nanoseconds since 1970.
uint64_t undead_session_start_time(void);

// True if recording did not cover the whole life of the process: what unknown blocks hold looks unreachable.
bool undead_session_has_gaps(void);

// Registers what must run when the program ends. Called with one thread, right before the program's main.
void undead_session_before_main(void);

// Before the program gives up system calls that the instrument needs: ends recording and all that it would do later, for
// good. `undead_session_return` takes that back if the program kept them.
void undead_session_leave(const char *why);
void undead_session_return(void);
bool undead_session_has_left(void);

// Why this copy does nothing, as undead_inactive_reason() tells it.
void undead_session_set_reason(const char *reason);

// Why the instrument cannot work in this process, in one sentence, or NULL if it can.
const char *undead_stand_aside_reason(void);
// The part of that which is true of any way to record.
const char *undead_sanitizer_reason(void);

// In the preloaded library: leaves the session to the copy that is linked into the program. Found by its name.
__attribute__((visibility("default"))) void undead_session_yield(void);

#pragma GCC visibility pop
