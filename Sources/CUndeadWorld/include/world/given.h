// A world that stands still already: in a replica (undead_replica.h), whose threads are only known by what their registers held.
#pragma once
#include "world/world.h"

typedef struct {
  int32_t tid;
  bool first;                  // the thread that the program began with
  const uint64_t *registers;   // struct user_regs_struct (<sys/user.h>)
  const uint8_t *xstate;       // XSAVE area in the standard format, NULL: none
  size_t xstate_bytes;
} undead_given_thread;

typedef struct {
  const undead_given_thread *threads;
  uint32_t thread_count;
  uint64_t started;            // nanoseconds since 1970: when the program did
  const uint64_t *held;        // words that the kernel holds for the program
  uint64_t held_count;
  bool held_known;             // these are all
  bool may_have_threads;       // the process is not confined
} undead_given_world;

// From now on this is what is stopped, looked at and let go on; helpers run in place. Stays where it is.
void undead_world_give(const undead_given_world *world);
// NULL where the program itself is looked at.
const undead_given_world *undead_given(void);

// The tid of the thread in whose thread-local storage the caller runs.
int32_t undead_given_own_tid(void);
// The thread pointer of one that pthread_create made, which may have ended; 0 if there is none.
uintptr_t undead_given_made_thread(size_t list_field);
// Where a thread's descriptor has its stack block and size, 0 if that is unknown.
size_t undead_given_stack_field(size_t list_field, size_t descriptor_bytes);
