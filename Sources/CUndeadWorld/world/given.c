#include "world/given.h"
#include "platform/raw_x86_64.h"
#include "world/clock.h"
#include <string.h>
#include <sys/user.h>

_Static_assert(sizeof(struct user_regs_struct) == 27 * sizeof(uint64_t), "the layout is a contract");

static const undead_given_world *given;

void undead_world_give(const undead_given_world *world) { given = world; }

const undead_given_world *undead_given(void) { return given; }

static struct user_regs_struct registers_of(const undead_given_thread *thread) {
  struct user_regs_struct registers;
  memcpy(&registers, thread->registers, sizeof registers);
  return registers;
}

static bool add_thread(undead_world *world, const undead_given_thread *from) {
  undead_stopped_thread *thread = undead_world_add(world, from->tid);
  if (!thread) return false;
  struct user_regs_struct registers = registers_of(from);
  thread->pc = registers.rip;
  thread->sp = registers.rsp;
  thread->gs = registers.gs_base;
  thread->tp = registers.fs_base;
  const uintptr_t general[UNDEAD_GENERAL_REGISTERS] = {
    registers.rax, registers.rbx, registers.rcx, registers.rdx, registers.rsi, registers.rdi, registers.rbp,
    registers.r8, registers.r9, registers.r10, registers.r11, registers.r12, registers.r13, registers.r14,
    registers.r15};
  memcpy(thread->general, general, sizeof general);
  thread->phase = UNDEAD_THREAD_STOPPED;
  undead_note_system_call(thread);
  if (from->xstate) undead_take_vectors(world, thread, from->xstate, from->xstate_bytes);
  if (from->first) world->process = from->tid;
  return true;
}

undead_stop_result undead_given_stop(undead_world *world) {
  world->stopped_at = undead_now();
  for (uint32_t i = 0; i < given->thread_count; i++)
    if (!add_thread(world, &given->threads[i])) return UNDEAD_STOP_NO_MEMORY;
  return world->vectors_lost ? UNDEAD_STOP_NO_MEMORY : UNDEAD_STOP_OK;
}

int32_t undead_given_own_tid(void) {
  uintptr_t own = undead_thread_pointer();
  for (uint32_t i = 0; i < given->thread_count; i++)
    if (registers_of(&given->threads[i]).fs_base == own) return given->threads[i].tid;
  return 0;
}

uintptr_t undead_given_made_thread(void) {
  for (uint32_t i = 0; i < given->thread_count; i++)
    if (!given->threads[i].first && registers_of(&given->threads[i]).fs_base)
      return registers_of(&given->threads[i]).fs_base;
  return 0;
}
