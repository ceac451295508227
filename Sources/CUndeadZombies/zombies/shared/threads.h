// Threads that freed or used objects, by a number that stays valid when they have ended.
#pragma once
#include "record/gate.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Whether the signals of a fault come through: not known; yes; no, as in the program's handler of one.
typedef enum { UNDEAD_FAULTS_UNKNOWN, UNDEAD_FAULTS_LET_IN, UNDEAD_FAULTS_HELD } undead_faults_state;

typedef struct {
  uint32_t place;        // in the table, from 1; 0: none yet
  uint32_t deaths;
  undead_faults_state faults;
  uintptr_t last_fault;        // where the program was let go on without a change
  volatile uintptr_t inside;   // frame of the function that runs code which must not be entered again; 0: none
} undead_zombie_thread;

extern __thread undead_zombie_thread undead_zombie_self __attribute__((tls_model("initial-exec")));

enum { UNDEAD_THREAD_NAME_BYTES = 16 };

uint32_t undead_thread_register(void);

// Asked where `inside` is set: false, and it is forgotten, if a signal handler has jumped out of that function.
bool undead_zombie_is_inside(undead_frame at);

// False in such code. Otherwise it begins here, and ends with undead_zombie_leave in the same function.
static inline __attribute__((always_inline)) bool undead_zombie_enter(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  undead_frame caller = {frame[1], (uintptr_t)(frame + 2), frame[0]};
  if (__builtin_expect(undead_zombie_self.inside != 0, 0) && undead_zombie_is_inside(caller)) return false;
  undead_zombie_self.inside = (uintptr_t)frame;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return true;
}

static inline __attribute__((always_inline)) void undead_zombie_leave(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  undead_zombie_self.inside = 0;
}

// Number of the calling thread. Async-signal-safe.
static inline __attribute__((always_inline)) uint32_t undead_thread_place(void) {
  // A new thread gets its name when some objects have died on it already.
  enum { FIRST_DEATHS = 64, DEATHS_TO_A_NAME = 256 };
  undead_zombie_thread *self = &undead_zombie_self;
  uint32_t deaths = self->deaths++;
  if (__builtin_expect(deaths > FIRST_DEATHS && deaths % DEATHS_TO_A_NAME, 1)) return self->place;
  return undead_thread_register();
}

// Kernel's id, and the name when it was last asked for; 0 and "" if it is not known any more.
void undead_thread_at(uint32_t place, int32_t *tid, char *name);

// The calling thread blocks none of the signals of a fault from now on: another one may have started the sniffer, or the program that
// was there before `exec` has blocked them.
void undead_thread_let_faults_in(void);

void undead_threads_after_fork_in_child(void);

#pragma GCC visibility pop
