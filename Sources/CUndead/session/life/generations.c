// Marks of generations that the program makes, and those that the tool asks for.
#include "session/life/life.h"
#include "record/generations.h"
#include "session/state/state_file.h"
#include "undead.h"
#include "undead_generations.h"

uint32_t undead_mark_generation(const char *name) {
  return undead_is_active() ? undead_generation_mark(name) : 0;
}

bool undead_generation_on_request(void) {
  undead_state_file *state = undead_state_get();
  uint32_t kind = UNDEAD_REQUEST_MARK;
  // The tool sends the signal again until it is heard: the others are for the same mark.
  if (!__atomic_compare_exchange_n(&state->request_kind, &kind, UNDEAD_REQUEST_TAKEN, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return kind == UNDEAD_REQUEST_TAKEN;
  __atomic_add_fetch(&state->requests, 1, __ATOMIC_RELEASE);
  // The file belongs to the tool's user, but nothing is read beyond its end.
  char name[sizeof state->request_argument];
  for (size_t i = 0; i < sizeof name; i++) name[i] = state->request_argument[i];
  name[sizeof name - 1] = 0;
  __atomic_store_n(&state->marked, undead_mark_generation(name), __ATOMIC_RELEASE);
  __atomic_add_fetch(&state->answers, 1, __ATOMIC_RELEASE);
  return true;
}
