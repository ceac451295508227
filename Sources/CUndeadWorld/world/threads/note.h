// What ptrace, or a replica's maker, read of a thread's registers.
#pragma once
#include "platform/processor/registers.h"
#include "world/given.h"
#include "world/world.h"

static inline void undead_world_note(undead_stopped_thread *thread, const undead_user_registers *registers) {
  thread->pc = undead_user_pc(registers);
  thread->sp = undead_user_sp(registers);
  thread->gs = undead_user_gs(registers);
  thread->tp = undead_user_tp(registers);
  undead_user_general(registers, thread->general);
}

undead_user_registers undead_given_registers(const undead_given_thread *thread);
