// The state file of this process (Documentation/session-protocol.md): a shared mapping that outlives the process.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef enum {
  UNDEAD_STAGE_LOADED = 1,
  UNDEAD_STAGE_RECORDING = 2,
  UNDEAD_STAGE_SCANNING = 3,
  UNDEAD_STAGE_WRITTEN = 4,
  UNDEAD_STAGE_STOOD_ASIDE = 5,
  UNDEAD_STAGE_FAILED = 6,
  UNDEAD_STAGE_UNCHECKED = 7,
  UNDEAD_STAGE_EXEC = 8,
} undead_stage;

// What the tool asks for.
typedef enum {
  UNDEAD_REQUEST_SNAPSHOT = 0,
  UNDEAD_REQUEST_HEAP = 1,      // a snapshot with the whole graph
  UNDEAD_REQUEST_CENSUS = 2,    // the number of blocks by type
  UNDEAD_REQUEST_MARK = 3,      // a new generation begins; the argument is its name
  UNDEAD_REQUEST_TAKEN = 4,     // set in place of the last one when the mark is made
} undead_request_kind;

#define UNDEAD_STATE_SWIFT 1u   // a Swift runtime was seen
#define UNDEAD_STATE_FORKED 2u  // forked, and no exec since

typedef struct {
  char magic[8];
  uint32_t version, pid, parent_pid, generation, stage, flags;
  uint32_t snapshots, requests, progress, answers;
  uint64_t start;          // nanoseconds since 1970
  uint8_t reserved[8];
  char step[64];
  char message[512];
  char snapshot[512];      // file name, without the directory
  char executable[1024];
  char arguments[1024];    // of the program, its own name first, separated by blanks; cut off to fit
  // Written by the tool before it sends the request signal.
  uint32_t request_kind;       // undead_request_kind
  char request_argument[252];  // zero-terminated
  uint32_t marked;             // generation that the last request to mark one began, 0: it could not
  uint8_t padding[4096 - 3460];
} undead_state_file;
_Static_assert(sizeof(undead_state_file) == 4096, "the layout is a contract");
_Static_assert(offsetof(undead_state_file, start) == 48, "the layout is a contract");
_Static_assert(offsetof(undead_state_file, step) == 64, "the layout is a contract");
_Static_assert(offsetof(undead_state_file, executable) == 1152, "the layout is a contract");
_Static_assert(offsetof(undead_state_file, request_kind) == 3200, "the layout is a contract");
_Static_assert(offsetof(undead_state_file, marked) == 3456, "the layout is a contract");

// The state of this process. Never NULL: without a session it is memory that nobody else reads.
undead_state_file *undead_state_get(void);

// Begins the state file of this process in `directory`; false if it cannot be made (the session is then off).
// `same_image`: another copy of the instrument in this image began it, so the generation stays.
bool undead_state_open(const char *directory, bool forked, bool same_image, uint64_t start_time);

// True if this process has begun a state file in `directory` already.
bool undead_state_exists(const char *directory);

// Unmaps the file without a change, so that another copy of the instrument may go on with it.
void undead_state_close(void);

void undead_state_set_stage(undead_stage stage, const char *message);
// Names the step under way and sets its progress back to 0.
void undead_state_set_step(const char *step);
void undead_state_set_progress(uint64_t done, uint64_t all);

// Counts every change of step or progress: a waiting thread sees by it that work goes on.
uint64_t undead_state_activity(void);

#pragma GCC visibility pop
