// Threads that freed or used objects, by a number that stays valid when they have ended.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uint32_t place;        // in the table, from 1; 0: none yet
  uint32_t deaths;       // since its name was asked for
  volatile uint32_t inside;   // > 0: in code of the zombies that must not be entered again
} undead_zombie_thread;

extern __thread undead_zombie_thread undead_zombie_self __attribute__((tls_model("initial-exec")));

enum { UNDEAD_THREAD_NAME_BYTES = 16 };

uint32_t undead_thread_register(void);

// Number of the calling thread. Async-signal-safe.
static inline __attribute__((always_inline)) uint32_t undead_thread_place(void) {
  enum { DEATHS_TO_A_NAME = 256 };
  undead_zombie_thread *self = &undead_zombie_self;
  if (__builtin_expect(self->place && self->deaths++ < DEATHS_TO_A_NAME, 1)) return self->place;
  return undead_thread_register();
}

// Kernel's id, and the name when it was last asked for; 0 and "" if it is not known any more.
void undead_thread_at(uint32_t place, int32_t *tid, char *name);

void undead_threads_after_fork_in_child(void);

#pragma GCC visibility pop
