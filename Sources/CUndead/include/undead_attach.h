// Recording in a program that runs already and was not started for it: the library is opened in the live program, and
// these functions are called there by their names. See Documentation/attach.md.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNDEAD_RECORD_REQUEST_VERSION 2u

enum {
  UNDEAD_RECORD_ZOMBIES_ONLY = 2,   // allocations are not recorded
};

typedef struct {
  uint32_t version;         // in: UNDEAD_RECORD_REQUEST_VERSION
  uint32_t bytes;           // in: of this struct
  uint32_t flags;           // in: UNDEAD_RECORD_ZOMBIES_ONLY
  uint32_t unused;
  uint64_t sample_bytes;    // in: mean of bytes between two backtraces, 0: every block has one
  uint32_t places;          // out: pointers to functions of the allocator that were changed
  uint32_t recording;       // out: 1 if allocations are recorded now
  int64_t in_hook;          // out: a word at this offset from each thread's pointer is not 0 while the thread is in a hook
  uint64_t started;         // out: when this recording began, nanoseconds since 1970
  uint64_t table_bytes;     // out: addresses of the tables
  uint32_t zombie_rate;     // in: one block of so many is sampled for uses after its death; 0: none
  uint32_t keeps_hooks;     // out: 1 if the hooks stay: blocks of the sample come back to them
  char message[512];        // out: why not
  char zombie_types[512];   // in: types all of whose objects are watched (undead_zombie_options)
} undead_record_request;

enum {
  UNDEAD_RECORD_DONE = 0,
  UNDEAD_RECORD_REFUSED = 1,   // the program cannot be recorded: `message` says why; nothing was changed
  UNDEAD_RECORD_ALREADY = 2,   // it is recorded already, or was not
  UNDEAD_RECORD_INVALID = 3,   // the request is of another version
};

// When recording began, nanoseconds since 1970; 0: nothing is recorded. The tool reads it from outside, by its name.
extern uint64_t undead_recording_since;

// Begins to record what the program allocates from now on, or to sample zombies, or both. For a thread that holds no lock of the loader or of malloc.
int undead_record_attached(undead_record_request *request);

// Ends it: the program calls its allocator again as before. Threads may still be in one of our functions afterwards.
int undead_record_detach(undead_record_request *request);

// Gives the memory of the tables back. Only after undead_record_detach that kept no hooks, when no thread is in one any more.
int undead_record_release(undead_record_request *request);

#ifdef __cplusplus
}
#endif
