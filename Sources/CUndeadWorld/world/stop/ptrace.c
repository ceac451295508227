// Stops the threads with ptrace: no signal reaches the program, and sleeping system calls go on as if nothing happened.
#include "record/gate.h"
#include "platform/system/clock.h"
#include "platform/memory/own_data.h"
#include "world/threads/note.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define STOP_DEADLINE 300000000ull    // for all threads to stop; then those that did go on, and it begins again
#define RUNNABLE_DEADLINE 3000000000ull   // for one that only waits for a processor: it stops as soon as it has one
#define HOOK_DEADLINE 200000000ull    // for one that sleeps in the allocator: one that stands may hold what it needs
#define GIVE_UP_DEADLINE 20000000000ull

static long trace(long request, int32_t tid, uintptr_t address, uintptr_t data) {
  return undead_raw4(SYS_ptrace, request, tid, (long)address, (long)data);
}

static undead_stop_result stop_result;

// A thread that is already dead, or is dying, cannot be attached to and holds nothing.
static bool is_leaving(char letter) { return letter == 0 || letter == 'Z' || letter == 'X'; }

static void seize(undead_world *world, int32_t tid) {
  if (stop_result != UNDEAD_STOP_OK || undead_world_find(world, tid)) return;
  long result = trace(PTRACE_SEIZE, tid, 0, 0);
  if (result == -ESRCH || (result < 0 && is_leaving(undead_thread_letter(tid)))) return;
  if (result < 0) {
    snprintf(world->message, sizeof world->message, "thread %d may not be traced (error %ld)", tid, -result);
    stop_result = UNDEAD_STOP_DENIED;
    return;
  }
  undead_stopped_thread *thread = undead_world_add(world, tid);
  if (!thread) {
    trace(PTRACE_DETACH, tid, 0, 0);
    stop_result = UNDEAD_STOP_NO_MEMORY;
    return;
  }
  trace(PTRACE_INTERRUPT, tid, 0, 0);
}

static void read_registers(undead_stopped_thread *thread) {
  undead_user_registers registers;
  struct iovec area = {&registers, sizeof(struct user_regs_struct)};
  bool known = trace(PTRACE_GETREGSET, thread->tid, NT_PRSTATUS, (uintptr_t)&area) >= 0;
  if (!known) {
    thread->phase = UNDEAD_THREAD_GONE;
    return;
  }
  undead_world_note(thread, &registers);
}

// Takes note of one change of a traced thread; false if there was none yet.
static bool poll_thread(undead_stopped_thread *thread) {
  int status = 0;
  long result = undead_raw4(SYS_wait4, thread->tid, (long)&status, __WALL | WNOHANG, 0);
  if (result == 0) return false;
  if (result < 0 || !WIFSTOPPED(status)) {
    thread->phase = UNDEAD_THREAD_GONE;
    return true;
  }
  // Without an event it was stopped on its way to a signal handler: the signal is delivered when it goes on.
  if (status >> 16 == 0) thread->held_signal = WSTOPSIG(status);
  thread->phase = UNDEAD_THREAD_STOPPED;
  read_registers(thread);
  return true;
}

static uint32_t poll_all(undead_world *world) {
  uint32_t running = 0;
  for (uint32_t i = 0; i < world->thread_count; i++) {
    undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase == UNDEAD_THREAD_RUNNING && !poll_thread(thread)) running++;
  }
  return running;
}

static bool wait_until_stopped(undead_world *world) {
  uint64_t start = undead_now();
  for (uint32_t round = 0; poll_all(world); round++) {
    if (round > 20) undead_pause(round < 200 ? 50000 : 1000000);
    else undead_raw3(SYS_sched_yield, 0, 0, 0);
    if (round % 64 != 63) continue;
    uint64_t waited = undead_now() - start;
    for (uint32_t i = 0; i < world->thread_count; i++) {
      undead_stopped_thread *thread = &world->threads[i];
      if (thread->phase != UNDEAD_THREAD_RUNNING) continue;
      char letter = undead_thread_letter(thread->tid);
      // The first thread of a program that lives on without it stays a zombie: it is never reported.
      if (is_leaving(letter)) thread->phase = UNDEAD_THREAD_GONE;
      else if (waited > (letter == 'R' ? RUNNABLE_DEADLINE : STOP_DEADLINE)) {
        snprintf(world->message, sizeof world->message, "thread %d does not stop (it is in state %c)", thread->tid,
                 letter);
        return false;
      }
    }
  }
  return true;
}

static void let_go_on(undead_stopped_thread *thread) {
  int32_t signal = thread->held_signal;
  thread->held_signal = 0;
  thread->phase = UNDEAD_THREAD_RUNNING;
  trace(PTRACE_CONT, thread->tid, 0, (uintptr_t)signal);
}

// Lets those go on that were stopped inside of a hook. How many are inside; those that came out wait at the gate.
static uint32_t release_from_hooks(undead_world *world) {
  uint32_t inside = 0;
  for (uint32_t i = 0; i < world->thread_count; i++) {
    undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase == UNDEAD_THREAD_GONE || !undead_thread_must_go_on(world, thread)) continue;
    if (thread->phase == UNDEAD_THREAD_STOPPED) let_go_on(thread);
    inside++;
  }
  return inside;
}

static bool is_anybody_runnable(const undead_world *world) {
  for (uint32_t i = 0; i < world->thread_count; i++) {
    const undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase == UNDEAD_THREAD_RUNNING && undead_thread_letter(thread->tid) == 'R') return true;
  }
  return false;
}

// Interrupts nobody: on a busy machine a thread would not get to run between one interruption and the next.
static bool wait_until_outside(undead_world *world) {
  uint64_t last = undead_now();
  uint32_t least = UINT32_MAX;
  for (uint64_t rest = 5000;; rest = rest < 500000 ? rest * 2 : rest) {
    uint32_t inside = release_from_hooks(world);
    if (!inside) return true;
    if (inside < least) last = undead_now();
    least = inside < least ? inside : least;
    uint64_t waited = undead_now() - last;
    if (waited > RUNNABLE_DEADLINE || (waited > HOOK_DEADLINE && !is_anybody_runnable(world))) return false;
    undead_pause(rest);
    poll_all(world);
  }
}

static bool is_anybody_running(const undead_world *world) {
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].phase == UNDEAD_THREAD_RUNNING) return true;
  return false;
}

static void interrupt_running(const undead_world *world) {
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].phase == UNDEAD_THREAD_RUNNING) trace(PTRACE_INTERRUPT, world->threads[i].tid, 0, 0);
}

// Threads inside an allocator hook hold the allocator's locks and half-written tables: they run on until they are out.
static undead_stop_result empty_hooks(undead_world *world) {
  for (;;) {
    if (!wait_until_outside(world)) {
      snprintf(world->message, sizeof world->message, "a thread does not leave the allocator");
      return UNDEAD_STOP_STUCK;
    }
    if (!is_anybody_running(world)) return UNDEAD_STOP_OK;
    interrupt_running(world);
    if (!wait_until_stopped(world)) return UNDEAD_STOP_STUCK;
  }
}

static undead_stop_result stop_once(undead_world *world) {
  stop_result = UNDEAD_STOP_OK;
  world->stopped_at = undead_now();
  undead_gate_close(world->process, world->scanner);
  // Those that could not be let go after the last attempt.
  interrupt_running(world);
  for (uint32_t known = 0;;) {
    if (!undead_each_thread(world, seize, world)) {
      snprintf(world->message, sizeof world->message, "/proc does not show this process, so its threads are unknown");
      return UNDEAD_STOP_UNSEEN;
    }
    if (stop_result != UNDEAD_STOP_OK) return stop_result;
    if (!wait_until_stopped(world)) return UNDEAD_STOP_STUCK;
    undead_stop_result hooks = empty_hooks(world);
    if (hooks != UNDEAD_STOP_OK) return hooks;
    if (world->thread_count == known) return UNDEAD_STOP_OK;
    known = world->thread_count;
  }
}

static void read_vectors(undead_world *world, undead_stopped_thread *thread) {
  static _Alignas(64) uint8_t bytes[UNDEAD_VECTOR_BYTES];
  struct iovec area = {bytes, sizeof bytes};
  if (trace(PTRACE_GETREGSET, thread->tid, UNDEAD_VECTOR_SET, (uintptr_t)&area) >= 0) {
    undead_take_vectors(world, thread, bytes, area.iov_len);
    return;
  }
  undead_user_vectors legacy;
  area = (struct iovec){&legacy, sizeof legacy};
  if (trace(PTRACE_GETREGSET, thread->tid, NT_PRFPREG, (uintptr_t)&area) >= 0)
    undead_take_vectors(world, thread, (const uint8_t *)&legacy, area.iov_len);
}

undead_stop_result undead_ptrace_stop(undead_world *world) {
  undead_stop_result result = stop_once(world);
  // A thread that waits in the allocator for one that we hold (in fork, say) gets its chance when all run.
  uint64_t start = undead_now();
  while (result == UNDEAD_STOP_STUCK && undead_now() - start < GIVE_UP_DEADLINE) {
    undead_ptrace_resume(world);
    undead_pause(1000000ull << (world->restarts < 9 ? world->restarts : 9));
    world->restarts++;
    result = stop_once(world);
  }
  if (result != UNDEAD_STOP_OK) {
    undead_ptrace_resume(world);
    return result;
  }
  for (uint32_t i = 0; i < world->thread_count; i++) {
    undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase != UNDEAD_THREAD_STOPPED) continue;
    undead_note_system_call(thread);
    if (!thread->in_syscall) read_vectors(world, thread);
  }
  return UNDEAD_STOP_OK;
}

undead_stop_result undead_ptrace_stop_one(undead_world *world, int32_t tid) {
  stop_result = UNDEAD_STOP_OK;
  world->thread_count = 0;
  seize(world, tid);
  if (stop_result != UNDEAD_STOP_OK) return stop_result;
  return wait_until_stopped(world) ? UNDEAD_STOP_OK : UNDEAD_STOP_STUCK;
}

void undead_ptrace_resume(undead_world *world) {
  undead_gate_open();
  uint32_t kept = 0;
  for (uint32_t i = 0; i < world->thread_count; i++) {
    undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase == UNDEAD_THREAD_GONE) continue;
    if (thread->phase == UNDEAD_THREAD_RUNNING && !poll_thread(thread)) {
      // Only a stopped thread can be let go. This one is traced until it stops, or the helper ends.
      world->threads[kept++] = *thread;
      continue;
    }
    undead_start_call_again(world, thread);
    trace(PTRACE_DETACH, thread->tid, 0, (uintptr_t)thread->held_signal);
  }
  world->thread_count = kept;
}
