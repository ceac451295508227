// Handlers of the signals of a crash, while threads of ours do what may crash: each has a guard with a way out of its own. A thread
// whose work was given up (facts_thread.c) keeps its guard until it returns, beside those of later checks; the last one that ends
// gives the program's actions back. Called by check.c, facts_thread.c and replica.c, on threads of ours.
#include "session/signals/signals.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/abandoned.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
enum { CRASH_SIGNALS = sizeof(crash_signals) / sizeof(crash_signals[0]), STACK_BYTES = 64 << 10 };

enum { GUARDS = 8 };   // more than threads of ours run at a time: a check, and a source of facts that was given up

// Each belongs to the thread whose id it has, from the call to its return, however late that is: no other guard can take its
// way out, and it cannot take another's.
typedef struct {
  volatile int32_t thread;   // 0: free
  sigjmp_buf way_out;
} guard;
static guard guards[GUARDS];

// The actions of the program, while handlers of ours stand in their place: as long as there is a guard.
static struct sigaction program_actions[CRASH_SIGNALS];
static uint32_t guard_count;
static uint32_t actions_taken;   // lock of the two, for threads of ours that block all signals

// Does what the program's own action would have done.
static void forward(int number, siginfo_t *info, void *context) {
  size_t index = 0;
  while (index + 1 < CRASH_SIGNALS && crash_signals[index] != number) index++;
  const struct sigaction *action = &program_actions[index];
  if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
    undead_signal_set_action(number, action, NULL);
    // A fault happens again when the handler returns; a signal that was sent does not.
    if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
  } else if (action->sa_flags & SA_SIGINFO) {
    action->sa_sigaction(number, info, context);
  } else {
    action->sa_handler(number);
  }
}

static guard *guard_of(int32_t thread) {
  for (int i = 0; i < GUARDS; i++)
    if (guards[i].thread == thread) return &guards[i];
  return NULL;
}

static void on_crash(int number, siginfo_t *info, void *context) {
  // SI_USER: somebody wants the process to have the signal, and it came to our thread by chance.
  guard *own = info->si_code == SI_USER ? NULL : guard_of((int32_t)syscall(SYS_gettid));
  if (own) siglongjmp(own->way_out, number);
  forward(number, info, context);
}

static void take_over(void) {
  for (int i = 0; i < CRASH_SIGNALS; i++) {
    struct sigaction now;
    // In a copy that was forked during a check our handler still stands there, and the program's action is known.
    if (undead_signal_set_action(crash_signals[i], NULL, &now) == 0 && now.sa_sigaction != on_crash)
      program_actions[i] = now;
    struct sigaction action = {.sa_mask = program_actions[i].sa_mask};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | (program_actions[i].sa_flags & (SA_RESTART | SA_NODEFER));
    action.sa_sigaction = on_crash;
    undead_signal_set_action(crash_signals[i], &action, NULL);
  }
}

static void give_back(void) {
  for (int i = 0; i < CRASH_SIGNALS; i++) {
    struct sigaction now;
    // The program may have set another one meanwhile.
    if (undead_signal_set_action(crash_signals[i], NULL, &now) == 0 && now.sa_sigaction == on_crash)
      undead_signal_set_action(crash_signals[i], &program_actions[i], NULL);
  }
}

void undead_guard_hide(int number, struct sigaction *action) {
  for (int i = 0; i < CRASH_SIGNALS; i++)
    if (crash_signals[i] == number && action->sa_sigaction == on_crash) *action = program_actions[i];
}

static void lock_actions(void) {
  while (__atomic_exchange_n(&actions_taken, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock_actions(void) { __atomic_store_n(&actions_taken, 0, __ATOMIC_RELEASE); }

static void begin_guard(void) {
  lock_actions();
  guard_count++;
  // Also if there are others: the program may have set an action of its own since.
  take_over();
  unlock_actions();
}

static void end_guard(void) {
  lock_actions();
  if (--guard_count == 0) give_back();
  unlock_actions();
}

void undead_guards_after_fork_in_child(void) {
  // The threads that they belong to are not here. The handlers stay, and do what the program's actions would.
  for (int i = 0; i < GUARDS; i++) guards[i].thread = 0;
  guard_count = 0;
  actions_taken = 0;
}

static void set_mask(int how) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < CRASH_SIGNALS; i++) sigaddset(&set, crash_signals[i]);
  undead_change_signal_mask(how, &set, NULL);
}

// Hooks that it crashed in are never left.
static void forget_hooks(uint32_t ignored) {
  const uintptr_t *own = __builtin_frame_address(0);
  undead_hook_settle((undead_frame){own[1], (uintptr_t)(own + 2), own[0]});
  undead_thread.ignored = ignored;
}

static guard *take_guard(void) {
  int32_t thread = (int32_t)syscall(SYS_gettid);
  for (int i = 0; i < GUARDS; i++) {
    int32_t free_guard = 0;
    if (__atomic_compare_exchange_n(&guards[i].thread, &free_guard, -thread, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return &guards[i];
  }
  return NULL;
}

// The guard counts from here on until its thread is set to 0: its way out is known.
static void run_guarded(guard *own, void (*work)(void *), void *context) {
  __atomic_store_n(&own->thread, -own->thread, __ATOMIC_RELEASE);
  set_mask(SIG_UNBLOCK);
  work(context);
}

int undead_guarded(void (*work)(void *), void *context) {
  uint32_t ignored = undead_thread.ignored;
  guard *own = take_guard();
  if (!own) return SIGABRT;
  void *room = undead_map(STACK_BYTES);   // for a handler after the thread's stack overflowed
  stack_t stack = {.ss_sp = room, .ss_size = STACK_BYTES}, before = {.ss_flags = SS_DISABLE};
  if (room) sigaltstack(&stack, &before);
  begin_guard();
  int crash = sigsetjmp(own->way_out, 1);
  if (crash == 0) run_guarded(own, work, context);
  // A free guard belongs to no thread: it does not catch a crash of what follows.
  set_mask(SIG_BLOCK);
  __atomic_store_n(&own->thread, 0, __ATOMIC_RELEASE);
  if (crash != 0) forget_hooks(ignored);
  end_guard();
  if (room) sigaltstack(&before, NULL);
  undead_unmap(room, STACK_BYTES);
  return crash;
}
