#include "session/life/life.h"
#include "platform/memory/own_data.h"
#include "platform/system/clock.h"
#include "session/check/check.h"
#include "session/signals/signals.h"
#include "session/stacks/stacks.h"
#include "session/limits/limits.h"
#include "session/state/process.h"
#include "session/state/settings.h"
#include "session/state/state_file.h"
#include "session/buffers/buffers.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// How often and how long to wait for a moment when no lock is held by the code that a signal interrupts.
#define RETRY_NANOSECONDS 1000000
#define RETRY_LIMIT_SECONDS 10

// `timeout`, and what hands signals on to a process and to its group, sends one twice within moments: that is one.
#define REPEAT_NANOSECONDS 100000000ull

static const int check_signals[] = {SIGTERM, SIGINT};
static uint64_t last_sent[2];      // when each of them came last
static bool managing;

static int dying_of;               // signal that ends the process when the check under way is done, 0: none
static int retrying;               // signal that waits for a safe moment, 0: none
static int64_t retry_deadline;
static int retry_timer = -1;       // timer of the kernel, made at the first retry
static char retry_cookie;          // its address distinguishes our timer's signals from others

static bool is_managed(int signal) {
  if (!managing) return false;
  const undead_settings *settings = undead_settings_get();
  if (signal == settings->request_signal) return true;
  return settings->check_signals && (signal == SIGTERM || signal == SIGINT);
}

static bool arm_timer(int signal) {
  if (retry_timer < 0) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal};
    event.sigev_value.sival_ptr = &retry_cookie;
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &retry_timer) != 0) return false;
  }
  struct itimerspec once = {.it_value = {.tv_nsec = RETRY_NANOSECONDS}};
  return syscall(SYS_timer_settime, retry_timer, 0, &once, NULL) == 0;
}

static void disarm_timer(void) {
  if (retry_timer >= 0) syscall(SYS_timer_delete, retry_timer);
  retry_timer = -1;
  __atomic_store_n(&retrying, 0, __ATOMIC_RELEASE);
}

static void die_unchecked(int signal, const char *why) {
  undead_state_set_stage(UNDEAD_STAGE_FAILED, why);
  undead_die_of(signal);
}

static void retry_later(int signal) {
  if (retrying == 0) {
    retry_deadline = undead_seconds_now() + RETRY_LIMIT_SECONDS;
    __atomic_store_n(&retrying, signal, __ATOMIC_RELEASE);
  }
  if (undead_seconds_now() > retry_deadline || !arm_timer(signal))
    die_unchecked(signal, "the program was ended by a signal, and never was at a point where a scan could start");
}

static void start_last_check(int signal, undead_check *check) {
  const undead_settings *settings = undead_settings_get();
  undead_text trigger = undead_text_in(check->trigger, sizeof(check->trigger));
  undead_text_add(&trigger, "signal ");
  undead_text_number(&trigger, signal);
  check->options.mode = settings->scan_mode_fixed ? settings->scan_mode : UNDEAD_SCAN_IN_PLACE;
  check->options.suspects = settings->suspects;
  check->with_heap = settings->heap;
  check->in_session = true;
  check->unattended = true;
  check->final_signal = signal;
  undead_limits_lift(&(undead_lifted_limits){0});   // for good: the process ends
  if (undead_check_start(check)) return;
  die_unchecked(signal, check->message);
  undead_check_release(check);
}

static bool is_repeat(int signal) {
  uint64_t *last = &last_sent[signal == check_signals[1]];
  uint64_t before = __atomic_load_n(last, __ATOMIC_ACQUIRE), now = undead_now();
  if (now - before < REPEAT_NANOSECONDS) return true;
  // Of two threads that get it at once, one has it.
  return !__atomic_compare_exchange_n(last, &before, now, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// In the handler, which has the signal blocked: one that waits would end the process when the default action is back. The check
// is claimed: who calls exit() or fork() meanwhile waits for it.
static void take_repeats(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  uint64_t end = __atomic_load_n(&last_sent[signal == check_signals[1]], __ATOMIC_ACQUIRE) + REPEAT_NANOSECONDS;
  for (uint64_t now; (now = undead_now()) < end;) {
    struct timespec rest = {.tv_nsec = (long)(end - now)};
    if (syscall(SYS_rt_sigtimedwait, &one, NULL, &rest, _NSIG / 8) < 0 && errno != EINTR) return;
  }
}

// A signal that ends the program. The interrupted thread goes on until the snapshot is made, since it may hold locks
// of the Swift runtime that naming needs; the thread of the check then ends the process by the same signal.
static void on_check_signal(int signal, siginfo_t *info, void *context) {
  int saved_errno = errno;
  undead_check_handler_begins();
  bool is_retry = info->si_code == SI_TIMER && info->si_value.sival_ptr == &retry_cookie;
  bool own = undead_session_in_charge() && undead_process_now() == UNDEAD_PROCESS_OWN;
  bool repeats = own && !is_retry && is_repeat(signal);
  bool impatient = !is_retry && __atomic_load_n(&retrying, __ATOMIC_ACQUIRE) == signal;
  if (repeats) {
    // The one before is being answered.
  } else if (!own || impatient) {
    undead_die_of(signal);
  } else if (undead_exit_under_way()) {
    if (!undead_check_end_with(signal)) undead_die_of(signal);
  } else if (!undead_interrupted_safely(context)) {
    retry_later(signal);
  } else {
    undead_check *check = undead_check_try_claim();
    int nobody = 0;
    if (!check) {
      if (dying_of) undead_die_of(signal);
      else retry_later(signal);
    } else if (__atomic_compare_exchange_n(&dying_of, &nobody, signal, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      disarm_timer();
      take_repeats(signal);
      undead_signal_restore_default(signal);   // a later one ends the process at once
      start_last_check(signal, check);
    }
  }
  undead_restart_interrupted(context);
  undead_check_handler_ends();
  errno = saved_errno;
}

static void on_request(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  int saved_errno = errno;
  undead_check_handler_begins();
  bool own = undead_session_in_charge() && undead_process_now() == UNDEAD_PROCESS_OWN;
  bool marks = own && undead_generation_on_request();
  bool possible = own && !marks && !undead_exit_under_way() && undead_interrupted_safely(context);
  undead_check *check = possible ? undead_check_try_claim() : NULL;
  if (check) {
    const undead_settings *settings = undead_settings_get();
    undead_text_copy(check->trigger, sizeof(check->trigger), "request");
    check->options.mode = settings->scan_mode_fixed ? settings->scan_mode : UNDEAD_SCAN_FORK;
    check->options.suspects = settings->suspects;
    check->in_session = true;
    check->unattended = true;
    check->counts_types = undead_state_get()->request_kind == UNDEAD_REQUEST_CENSUS;
    check->with_heap = undead_state_get()->request_kind == UNDEAD_REQUEST_HEAP;
    __atomic_add_fetch(&undead_state_get()->requests, 1, __ATOMIC_RELEASE);
    if (!undead_check_start(check)) {
      undead_state_set_stage(UNDEAD_STAGE_RECORDING, check->message);
      undead_check_release(check);
      __atomic_add_fetch(&undead_state_get()->answers, 1, __ATOMIC_RELEASE);
    }
  }
  undead_restart_interrupted(context);
  undead_check_handler_ends();
  errno = saved_errno;
}

static bool is_handler(const void *handler) {
  return handler == (const void *)on_check_signal || handler == (const void *)on_request;
}

static void manage(int signal) {
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  action.sa_sigaction = signal == undead_settings_get()->request_signal ? on_request : on_check_signal;
  sigemptyset(&action.sa_mask);
  undead_signal_set_action(signal, &action, NULL);
}

static void manage_if_default(int signal) {
  struct sigaction action;
  if (is_managed(signal) && undead_signal_set_action(signal, NULL, &action) == 0 &&
      action.sa_handler == SIG_DFL)
    manage(signal);
}

static void survived(int signal) {
  dying_of = 0;
  disarm_timer();
  manage(signal);
}

void undead_signals_begin(void) {
  static const undead_signal_manager manager = {is_managed, manage, is_handler, survived};
  managing = true;
  undead_signal_manage_by(&manager);
  for (size_t i = 0; i < sizeof(check_signals) / sizeof(check_signals[0]); i++) manage_if_default(check_signals[i]);
  int request = undead_settings_get()->request_signal;
  if (request) manage_if_default(request);
}

static void give_back_signal(int signal) {
  struct sigaction action;
  bool ours = undead_signal_set_action(signal, NULL, &action) == 0 &&
              is_handler((const void *)action.sa_sigaction);
  if (ours) undead_signal_restore_default(signal);
}

void undead_signals_end(void) {
  if (!managing) return;
  managing = false;
  for (size_t i = 0; i < sizeof(check_signals) / sizeof(check_signals[0]); i++) give_back_signal(check_signals[i]);
  int request = undead_settings_get()->request_signal;
  if (request) give_back_signal(request);
}

void undead_signals_reset(void) {
  dying_of = 0;
  retrying = 0;
  retry_timer = -1;   // timers are not inherited
  if (managing) undead_signals_begin();
}
