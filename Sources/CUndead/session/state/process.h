// What the parts of a session know of their process. start.c writes it; everything else only reads.
#pragma once
#include "undead_replica.h"
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// 1 in the library made for LD_PRELOAD, 0 in a program or library that links Undead.
extern const int undead_is_preload;

typedef enum {
  UNDEAD_PROCESS_OWN,        // the process that the session was prepared in, or one that was adopted
  UNDEAD_PROCESS_FORKED,     // a forked copy that no fork handler announced (_Fork, clone)
  UNDEAD_PROCESS_BORROWED,   // a vfork child: our memory is its parent's and must not be changed
} undead_process;

// What the parts that notice a change of the process have start.c do, which knows all of them.
typedef struct {
  void (*adopt_child)(void);
  void (*leave)(const char *why);
  void (*give_back)(void);
} undead_session_calls;

// The state itself: for start.c alone.
typedef struct {
  undead_session_calls calls;
  bool in_charge, has_gaps, has_left;
  int32_t loading_id, id, forked_from;   // process ids: at the start, now, and that of the parent
  uint64_t start_time;
  char reason[512];
} undead_session_state;
extern undead_session_state undead_session;

// The process has a mark from now on that a fork wipes and a vfork does not. Sets it again after a fork.
void undead_process_mark(void);
void undead_process_mark_again(void);

// Which process runs this code. Async-signal-safe.
undead_process undead_process_now(void);

// True if this copy records for a session (UNDEAD_SESSION), and so must write a snapshot when the program ends.
bool undead_session_in_charge(void);

// The process that the session's was forked from without exec (0: none).
int32_t undead_session_forked_from(void);

// When this process started, or was forked, in nanoseconds since 1970.
uint64_t undead_session_start_time(void);

// True if recording did not cover the whole life of the process: what unknown blocks hold looks unreachable.
bool undead_session_has_gaps(void);

// After a fork: gives the child its own state file. Async-signal-safe.
void undead_session_adopt_child(void);

// Before the program gives up system calls that the instrument needs: ends recording and all that it would do later, for
// good. `undead_session_return` takes that back if the program kept them.
void undead_session_leave(const char *why);
void undead_session_return(void);
bool undead_session_has_left(void);

// Why this copy does nothing, as undead_inactive_reason() shows it.
void undead_session_set_reason(const char *reason);

// True from the moment on that the end of the program is looked at for leaks. exit.c writes the stage: 0 before that.
int undead_exit_under_way(void);
extern uint32_t undead_exit_stage;

// The request that is under way, NULL outside of a replica. replica.c sets it.
const undead_replica_request *undead_replica_now(void);
void undead_replica_set_now(const undead_replica_request *request);

// When recording was put into a program that ran, in nanoseconds since 1970; 0 if it was not. attached.c sets it; the tool reads it.
extern uint64_t undead_recording_since;

// Whether this process runs Swift code, found cheaply at its start.

// True if the runtime's library is loaded, or the executable contains Swift code (as with -static-stdlib). A runtime
// that is loaded later is found by the scan. Without malloc.
bool undead_swift_is_present(void);

#pragma GCC visibility pop
