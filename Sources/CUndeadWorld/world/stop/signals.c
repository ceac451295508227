// Stops the threads with a signal where ptrace is denied. SIGPROF, because libdispatch's workers block most others.
// Only a fallback: the program's own handler for SIGPROF waits meanwhile.
#include "platform/memory/own_data.h"
#include "platform/system/read_text.h"
#include "platform/processor/registers.h"
#include "platform/system/system_calls.h"
#include "platform/system/time_limit.h"
#include "record/gate.h"
#include "platform/system/clock.h"
#include "world/images.h"
#include "world/proc_ids.h"
#include "world/stop/saved_registers.h"
#include "world/threads/sigaction.h"
#include "world/world.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

#define FIRST_DEADLINE 300000000ull    // for all threads to answer; doubled with every attempt
#define BLOCKED_DEADLINE 500000000ull  // between two attempts, for one that blocks the signal: it may do so for good
#define RUNNABLE_DEADLINE 3000000000ull   // for those that only wait for a processor: they answer as soon as they have one
// Longer than any scan: a parked thread goes on by itself then.
#define PARK_DEADLINE ((undead_scan_limit_seconds() + 30ull) * 1000000000ull)
#define ATTEMPTS 5

static struct {
  undead_world *world;
  volatile uint32_t pending;    // a stop is in force
  uint32_t inside;              // threads in the handler: they may look at `world`
  uint32_t go;                  // changes when the parked threads are to go on
  undead_signal_action before;  // the program's own
} stopper;

// The helper is another process: futexes that it shares with the program cannot be private ones.
static void wake_all(uint32_t *word) {
  undead_raw6(SYS_futex, (long)word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

static void note_registers(undead_world *world, undead_stopped_thread *thread, const ucontext_t *context) {
  for (int i = 0; i < UNDEAD_GENERAL_REGISTERS; i++) thread->general[i] = undead_context_general(context, i);
  thread->pc = undead_context_pc(context);
  thread->sp = undead_context_sp(context);
  thread->gs = undead_own_gs();
  thread->tp = undead_thread_pointer();
  undead_note_system_call(thread);
  size_t size;
  const uint8_t *area = undead_context_vectors(context, &size);
  if (!thread->in_syscall && area) undead_take_vectors(world, thread, area, size);
}

static void wait_for_others(undead_stopped_thread *thread) {
  uint32_t go = __atomic_load_n(&stopper.go, __ATOMIC_ACQUIRE);
  __atomic_store_n(&thread->phase, UNDEAD_THREAD_STOPPED, __ATOMIC_RELEASE);
  uint64_t start = undead_now();
  for (uint64_t waited = 0; waited < PARK_DEADLINE; waited = undead_now() - start) {
    if (!stopper.pending || __atomic_load_n(&stopper.go, __ATOMIC_ACQUIRE) != go) break;
    struct timespec rest = {0, 100000000};
    undead_raw6(SYS_futex, (long)&stopper.go, FUTEX_WAIT, go, (long)&rest, 0, 0);
  }
}

static void park(undead_stopped_thread *thread, ucontext_t *context) {
  undead_saved_registers saved = undead_saved_find(context);
  note_registers(stopper.world, thread, context);
  undead_saved_disguise(&saved);
  wait_for_others(thread);
  undead_saved_disguise(&saved);
}

static void answer(ucontext_t *context) {
  undead_stopped_thread *thread = undead_world_find(stopper.world, (int32_t)undead_raw3(SYS_gettid, 0, 0, 0));
  if (!thread || thread->phase != UNDEAD_THREAD_RUNNING) return;
  thread->asked = 0;
  // Inside the allocator it goes on to the gate, and is asked again a little later.
  undead_frame at = {undead_context_pc(context) + 1, undead_context_sp(context), undead_context_fp(context)};
  if (undead_thread.held || undead_hook_is_under_way(&undead_thread, at)) return;
  if (!undead_thread_empties_cache(stopper.world, undead_thread_pointer())) park(thread, context);
}

static void forward(int number, siginfo_t *info, void *context) {
  void (*handler)(int, siginfo_t *, void *) = stopper.before.handler;
  if ((void *)handler == (void *)SIG_IGN) return;
  if ((void *)handler != (void *)SIG_DFL) {
    handler(number, info, context);
    return;
  }
  // A profiling timer without a handler ends the program, as it would without us.
  undead_set_action(number, &stopper.before, NULL);
  undead_raw3(SYS_tgkill, undead_raw3(SYS_getpid, 0, 0, 0), undead_raw3(SYS_gettid, 0, 0, 0), number);
}

// The frame that the handler is to return by, NULL for the one that it was called with.
__attribute__((used, visibility("hidden"))) void *undead_answer_signal(int number, siginfo_t *info, void *context) {
  bool ours = info->si_code == SI_QUEUE && info->si_value.sival_ptr == (void *)&stopper;
  __atomic_fetch_add(&stopper.inside, 1, __ATOMIC_SEQ_CST);
  if (stopper.pending) answer(context);
  __atomic_fetch_sub(&stopper.inside, 1, __ATOMIC_SEQ_CST);
  if (!ours) {
    forward(number, info, context);
    return NULL;
  }
  undead_saved_registers saved = undead_saved_find(context);
  ucontext_t *moved = undead_saved_move(context, &saved);
  ucontext_t *final = moved ? moved : context;
  undead_restart_system_call(final, undead_is_libc_code(undead_context_pc(final)));
  return moved ? (uintptr_t *)moved - 1 : NULL;
}

static __attribute__((naked)) void on_signal(__attribute__((unused)) int number, __attribute__((unused)) siginfo_t *info,
                                             __attribute__((unused)) void *context) {
  __asm__(UNDEAD_HANDLER_WITHOUT_REGISTERS("undead_answer_signal"));
}

bool undead_signals_prepare(undead_world *world) {
  undead_signal_action action = {.handler = on_signal,
                                 .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | UNDEAD_SA_RESTORER,
                                 .restorer = undead_signal_return,
                                 .mask = ~0ull};
  undead_signal_action before;
  stopper.world = world;
  undead_saved_prepare();
  if (undead_set_action(SIGPROF, &action, &before) < 0) {
    snprintf(world->message, sizeof world->message, "the handler for SIGPROF could not be set");
    return false;
  }
  if (before.handler != on_signal) stopper.before = before;
  stopper.pending = 1;
  return true;
}

static bool is_signal_under_way(const undead_world *world) {
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].asked && world->threads[i].phase == UNDEAD_THREAD_RUNNING) return true;
  return false;
}

void undead_signals_finish(undead_world *world) {
  bool under_way = is_signal_under_way(world) || world->signals_lost;
  stopper.pending = 0;
  __atomic_fetch_add(&stopper.go, 1, __ATOMIC_SEQ_CST);
  wake_all(&stopper.go);
  while (__atomic_load_n(&stopper.inside, __ATOMIC_SEQ_CST)) undead_raw3(SYS_sched_yield, 0, 0, 0);
  // A signal that still waits for its thread would end the program if it found no handler: then ours stays, and
  // hands on what is not ours.
  undead_signal_action now;
  if (!under_way && undead_set_action(SIGPROF, NULL, &now) == 0 && now.handler == on_signal)
    undead_set_action(SIGPROF, &stopper.before, NULL);
}

// The signals that the thread blocks at the moment: bit 0 is signal 1. None if it is gone.
static uint64_t blocked_signals(int32_t tid) {
  char text[4096];
  if (undead_read_text_of(undead_proc_open_thread(tid, "status"), text, sizeof text) < 0) return 0;
  const char *line = strstr(text, "\nSigBlk:\t");
  return line ? undead_read_number(line + 9, 16, NULL) : 0;
}

#define SIGNAL_BIT(number) (1ull << ((number) - 1))
// Nobody can block the first two; glibc keeps the others to itself, and their handlers touch no objects.
#define UNBLOCKABLE (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(32) | SIGNAL_BIT(33))

// A thread that ends gives back memory while it blocks every signal: at the gate it stands as well as in our handler.
static bool stands_at_gate(undead_stopped_thread *thread, uint64_t blocked) {
  uintptr_t sp, tp;
  if ((blocked | UNBLOCKABLE) != ~0ull || !undead_gate_holds(thread->tid, &sp, &tp)) return false;
  thread->sp = sp;
  thread->gs = 0;
  thread->tp = tp;
  // In a system call of libc, with its caller's registers on its stack.
  thread->pc = (uintptr_t)syscall;
  memset(thread->general, 0, sizeof thread->general);
  thread->vector_count = 0;
  thread->in_syscall = true;
  thread->phase = UNDEAD_THREAD_STOPPED;
  return true;
}

static void ask(undead_world *world, undead_stopped_thread *thread) {
  uint64_t blocked = blocked_signals(thread->tid);
  if (blocked & SIGNAL_BIT(SIGPROF)) {
    stands_at_gate(thread, blocked);
    return;
  }
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = SIGPROF;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = &stopper;
  thread->asked = 1;
  long result = undead_raw4(SYS_rt_tgsigqueueinfo, world->process, thread->tid, SIGPROF, (long)&info);
  if (result == -ESRCH) thread->phase = UNDEAD_THREAD_GONE;
  else if (result < 0) thread->asked = 0;
}

static void note_thread(undead_world *world, int32_t tid) {
  if (undead_world_find(world, tid)) return;
  char letter = undead_thread_letter(tid);
  if (letter && letter != 'Z' && letter != 'X' && !undead_world_add(world, tid)) world->threads_lost = true;
}

// Asks every thread that runs and was not asked; how many run.
static uint32_t ask_all(undead_world *world, int32_t *slowest, bool check_gone) {
  uint32_t running = 0;
  for (uint32_t i = 0; i < world->thread_count; i++) {
    undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase != UNDEAD_THREAD_RUNNING) continue;
    if (!thread->asked) ask(world, thread);
    if (check_gone) {
      char letter = undead_thread_letter(thread->tid);
      if (!letter || letter == 'Z' || letter == 'X') thread->phase = UNDEAD_THREAD_GONE;
    }
    if (thread->phase != UNDEAD_THREAD_RUNNING) continue;
    *slowest = thread->tid;
    running++;
  }
  return running;
}

static bool wait_until_parked(undead_world *world, uint64_t deadline) {
  uint64_t start = undead_now();
  int32_t slowest = 0;
  for (uint32_t round = 0;; round++) {
    if (!ask_all(world, &slowest, round % 32 == 31)) return true;
    uint64_t waited = undead_now() - start;
    if (waited > RUNNABLE_DEADLINE + deadline) break;
    if (waited > deadline && undead_thread_letter(slowest) != 'R') break;
    undead_pause(round < 50 ? 20000 : 500000);
  }
  bool blocked = blocked_signals(slowest) & SIGNAL_BIT(SIGPROF);
  // One that runs may do so for a moment only: while it makes a thread, or is made.
  bool lasts = blocked && undead_thread_letter(slowest) != 'R';
  world->blocks_again = lasts && world->blocking_thread == slowest;
  world->blocking_thread = lasts ? slowest : 0;
  snprintf(world->message, sizeof world->message, "thread %d %s", slowest,
           blocked ? "blocks SIGPROF, and ptrace is denied" : "did not answer SIGPROF in time");
  return false;
}

static undead_stop_result stop_once_by_signals(undead_world *world, uint64_t deadline) {
  world->stopped_at = undead_now();
  undead_gate_close(world->process, world->scanner);
  for (uint32_t known = 0;;) {
    if (!undead_each_thread(world, note_thread, world)) {
      snprintf(world->message, sizeof world->message, "/proc does not show this process, so its threads are unknown");
      return UNDEAD_STOP_UNSEEN;
    }
    if (world->threads_lost) return UNDEAD_STOP_NO_MEMORY;
    if (!wait_until_parked(world, deadline)) return UNDEAD_STOP_STUCK;
    if (world->thread_count == known) return UNDEAD_STOP_OK;
    known = world->thread_count;
  }
}

static bool wait_until_signalled_outside(void) {
  for (int round = 0; round < 20000; round++) {
    if (!__atomic_load_n(&stopper.inside, __ATOMIC_SEQ_CST)) return true;
    undead_pause(100000);
  }
  return false;
}

// One that is being made waits, all signals blocked, for who makes it, and that one stood: on a busy machine it may take a
// while until both had a processor.
static void wait_while_blocked(const undead_world *world) {
  uint64_t start = undead_now();
  while (world->blocking_thread && undead_now() - start < BLOCKED_DEADLINE
         && blocked_signals(world->blocking_thread) & SIGNAL_BIT(SIGPROF))
    undead_pause(1000000);
}

undead_stop_result undead_signals_stop(undead_world *world) {
  uint64_t deadline = FIRST_DEADLINE;
  for (int attempt = 0; attempt < ATTEMPTS; attempt++, deadline *= 2) {
    undead_stop_result result = stop_once_by_signals(world, deadline);
    if (result == UNDEAD_STOP_OK) return result;
    undead_signals_resume(world);
    if (result != UNDEAD_STOP_STUCK || !wait_until_signalled_outside() || world->blocks_again) return result;
    // A thread that waits in the allocator for a parked one gets its chance when all run.
    world->restarts++;
    undead_pause(1000000);
    wait_while_blocked(world);
    for (uint32_t i = 0; i < world->thread_count; i++)
      if (world->threads[i].phase == UNDEAD_THREAD_STOPPED) world->threads[i].phase = UNDEAD_THREAD_RUNNING;
  }
  return UNDEAD_STOP_STUCK;
}

void undead_signals_resume(undead_world *world) {
  undead_gate_open();
  if (is_signal_under_way(world)) world->signals_lost = true;
  __atomic_fetch_add(&stopper.go, 1, __ATOMIC_SEQ_CST);
  wake_all(&stopper.go);
}
