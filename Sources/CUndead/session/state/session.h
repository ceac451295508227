// The life of the instrument in one process: it starts before main, and looks for leaks when the program ends.
#pragma once
#include "session/state/process.h"

#pragma GCC visibility push(hidden)

// Reads the settings, decides whether this copy of the instrument works here, and begins the state file. Idempotent.
void undead_session_prepare(void);

// Registers what must run when the program ends. Called with one thread, right before the program's main.
void undead_session_before_main(void);

// Begins all but recording, if nothing was begun yet: forks are seen.
void undead_session_begin_unrecorded(void);

// Why the instrument cannot work in this process, in one sentence, or NULL if it can.
const char *undead_stand_aside_reason(void);
// The part of that which is true of any way to record.
const char *undead_sanitizer_reason(void);

// In the preloaded library: leaves the session to the copy that is linked into the program. Found by its name.
__attribute__((visibility("default"))) void undead_session_yield(void);

#pragma GCC visibility pop
