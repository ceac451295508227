#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "session/guard.h"
#include "platform/c_library.h"
#include "platform/memory.h"
#include "platform/own_data.h"
#include "record/abandoned.h"
#include "session/signal_functions.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
enum { CRASH_SIGNALS = sizeof(crash_signals) / sizeof(crash_signals[0]), STACK_BYTES = 64 << 10 };

static volatile int32_t guarded_thread;
static sigjmp_buf way_out;
static struct sigaction program_actions[CRASH_SIGNALS];

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

static void on_crash(int number, siginfo_t *info, void *context) {
  // SI_USER: somebody wants the process to have the signal, and it came to our thread by chance.
  bool ours = guarded_thread != 0 && syscall(SYS_gettid) == guarded_thread && info->si_code != SI_USER;
  if (ours) siglongjmp(way_out, number);
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

int undead_guarded(void (*work)(void *), void *context) {
  uint32_t ignored = undead_thread.ignored;
  void *room = undead_map(STACK_BYTES);   // for a handler after the thread's stack overflowed
  stack_t stack = {.ss_sp = room, .ss_size = STACK_BYTES}, before = {.ss_flags = SS_DISABLE};
  if (room) sigaltstack(&stack, &before);
  guarded_thread = 0;
  take_over();
  int crash = sigsetjmp(way_out, 1);
  if (crash == 0) {
    guarded_thread = (int32_t)syscall(SYS_gettid);
    set_mask(SIG_UNBLOCK);
    work(context);
  }
  guarded_thread = 0;
  if (crash != 0) forget_hooks(ignored);
  set_mask(SIG_BLOCK);
  give_back();
  if (room) sigaltstack(&before, NULL);
  undead_unmap(room, STACK_BYTES);
  return crash;
}
#endif
