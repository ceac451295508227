// Stops the world by the one method or the other, or takes one that stands still already.
#include "world/world.h"
#include "platform/memory/own_data.h"
#include "platform/system/environment.h"
#include "platform/system/clock.h"
#include "world/given.h"
#include "world/threads/note.h"
#include <string.h>

static int preference;

// The environment may change, or be changed by another thread, later.
__attribute__((constructor)) static void read_preference(void) {
  const char *text = undead_setting("UNDEAD_STOP");
  if (text && !strcmp(text, "ptrace")) preference = UNDEAD_STOP_PTRACE;
  if (text && !strcmp(text, "signals")) preference = UNDEAD_STOP_SIGNALS;
}

int undead_stop_preference(void) { return preference; }

static bool add_given_thread(undead_world *world, const undead_given_thread *from) {
  undead_stopped_thread *thread = undead_world_add(world, from->tid);
  if (!thread) return false;
  undead_user_registers registers = undead_given_registers(from);
  undead_world_note(thread, &registers);
  thread->phase = UNDEAD_THREAD_STOPPED;
  undead_note_system_call(thread);
  if (from->xstate) undead_take_vectors(world, thread, from->xstate, from->xstate_bytes);
  if (from->first) world->process = from->tid;
  return true;
}

static undead_stop_result take_given(undead_world *world) {
  const undead_given_world *given = undead_given();
  world->stopped_at = undead_now();
  for (uint32_t i = 0; i < given->thread_count; i++)
    if (!add_given_thread(world, &given->threads[i])) return UNDEAD_STOP_NO_MEMORY;
  return world->vectors_lost ? UNDEAD_STOP_NO_MEMORY : UNDEAD_STOP_OK;
}

undead_stop_result undead_world_stop(undead_world *world) {
  world->thread_count = 0;
  world->vector_count = 0;
  if (undead_given()) return take_given(world);
  return world->method == UNDEAD_STOP_PTRACE ? undead_ptrace_stop(world) : undead_signals_stop(world);
}

void undead_world_resume(undead_world *world) {
  if (undead_given()) return;
  if (world->method == UNDEAD_STOP_PTRACE) undead_ptrace_resume(world);
  else undead_signals_resume(world);
}
