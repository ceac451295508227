// The check at the end of a program: by a return from main, exit(), or a signal. The first thread that ends the program makes it,
// all others wait; `undead_exit_stage` says how far it is. A program never hangs here: where a check could wait for a lock that
// the ending thread holds, there is none, and the session notes why.
#include "session/life/life.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "session/check/check.h"
#include "session/state/interpose.h"
#include "session/stacks/stacks.h"
#include "session/limits/limits.h"
#include "session/state/process.h"
#include "session/state/settings.h"
#include "session/state/state_file.h"
#include "session/buffers/buffers.h"
#include "record/mode.h"
#include "zombies/zombies.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

extern int __cxa_atexit(void (*handler)(void *), void *argument, void *library);

enum { ALIVE, CHECKING, CHECKED };   // stages (undead_exit_stage)

static int32_t ending_thread;           // the first that ends the program, which makes the check; 0: none yet
static undead_check *check_under_way;   // its check

void undead_exit_reset(void) {
  __atomic_store_n(&ending_thread, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&undead_exit_stage, ALIVE, __ATOMIC_RELEASE);
}

static void set_stage(uint32_t value) {
  __atomic_store_n(&undead_exit_stage, value, __ATOMIC_RELEASE);
  syscall(SYS_futex, &undead_exit_stage, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

// The thread that ends the program is in code of ours: what lies below its call of exit(), or below the call of main that has
// returned, is not the program's.
static void describe_caller(undead_scan_options *options, const undead_call_site *site) {
  if (!site) return;
  options->caller_tid = (int32_t)syscall(SYS_gettid);
  options->caller_sp = site->sp;
  options->caller_pc = site->return_address;
  options->caller_frame = site->sp;
  for (int i = 0; i < 6; i++) options->caller_registers[i] = site->registers[i];
}

static void finish_check(undead_check *check) {
  if (!undead_check_wait(check)) undead_state_set_stage(UNDEAD_STAGE_FAILED, check->message);
  else undead_check_release(check);
  check_under_way = NULL;
}

// The check, begun; NULL if it cannot be.
static undead_check *begin_check(const undead_call_site *site) {
  undead_check *check = undead_check_claim();
  if (!check) {
    undead_state_set_stage(UNDEAD_STAGE_FAILED, "an earlier search for leaks did not come to an end");
    return NULL;
  }
  const undead_settings *settings = undead_settings_get();
  undead_text_copy(check->trigger, sizeof(check->trigger), "exit");
  check->in_session = true;
  check->options.mode = settings->scan_mode_fixed ? settings->scan_mode : UNDEAD_SCAN_IN_PLACE;
  check->options.suspects = settings->suspects;
  check->options.ends = true;
  check->with_heap = settings->heap;
  describe_caller(&check->options, site);
  if (undead_check_start(check)) return check_under_way = check;
  undead_state_set_stage(UNDEAD_STAGE_FAILED, check->message);
  return NULL;
}

static void check_at_exit(const undead_call_site *site) {
  undead_lifted_limits lifted;
  undead_limits_lift(&lifted);
  // The handler of a signal may call exit(): it finds a check that is under way, or none.
  bool may_block = !undead_sandbox_is_unknown();
  sigset_t all, before;
  sigfillset(&all);
  if (may_block) undead_change_signal_mask(SIG_SETMASK, &all, &before);
  undead_check *check = begin_check(site);
  if (may_block) undead_change_signal_mask(SIG_SETMASK, &before, NULL);
  if (check) finish_check(check);
  undead_limits_restore(&lifted);
}

// Another thread called exit() too: it must not pull the libraries away from under the scan. Nor may all of them go on at once
// then: the C library's list of handlers is not made for that, and the one that made the check ends the process. A handler of
// the program's that waits for this very thread is let go on after a moment.
static void wait_for_end(void) {
  enum { PATIENCE_SECONDS = 2 };
  struct timespec slice = {.tv_sec = 1}, patience = {.tv_sec = PATIENCE_SECONDS};
  if (__atomic_load_n(&undead_exit_stage, __ATOMIC_ACQUIRE) == ALIVE)
    syscall(SYS_futex, &undead_exit_stage, FUTEX_WAIT_PRIVATE, ALIVE, &patience, NULL, 0);
  while (__atomic_load_n(&undead_exit_stage, __ATOMIC_ACQUIRE) == CHECKING)
    syscall(SYS_futex, &undead_exit_stage, FUTEX_WAIT_PRIVATE, CHECKING, &slice, NULL, 0);
  if (__atomic_load_n(&undead_exit_stage, __ATOMIC_ACQUIRE) == CHECKED) syscall(SYS_nanosleep, &patience, NULL);
}

static void check_once(const undead_call_site *site) {
  const char *obstacle = undead_exit_obstacle();
  set_stage(CHECKING);
  if (obstacle) undead_state_set_stage(UNDEAD_STAGE_FAILED, obstacle);
  else check_at_exit(site);
  set_stage(CHECKED);
}

// In a handler of a signal that came during the check, which calls exit(): what it interrupted will never go on.
static void check_on_behalf_of_interrupted(const undead_call_site *site) {
  if (__atomic_load_n(&undead_exit_stage, __ATOMIC_ACQUIRE) == CHECKED) return;
  if (check_under_way) {
    finish_check(check_under_way);
    set_stage(CHECKED);
  } else {
    check_once(site);
  }
}

// The program ends, and its handlers and destructors have not yet taken down what holds its objects: containers of C++ that
// are static in a function or of a thread, tables that a handler of C frees.
static void check_at_end(const undead_call_site *site) {
  if (!undead_session_in_charge()) return;   // first of all: in a sandbox every system call may be the last one
  int saved_errno = errno;
  undead_process process = undead_process_now();
  if (process == UNDEAD_PROCESS_FORKED) undead_session_adopt_child();
  if (process != UNDEAD_PROCESS_BORROWED && undead_session_in_charge() && !undead_record_is_left_out()) {
    int32_t nobody = 0, self = (int32_t)syscall(SYS_gettid);
    if (__atomic_compare_exchange_n(&ending_thread, &nobody, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) check_once(site);
    else if (nobody == self) check_on_behalf_of_interrupted(site);
    else wait_for_end();
  }
  errno = saved_errno;
}

// What is left for the end: uses of dead objects by handlers and destructors. The check was made, unless the C library itself
// ends the program, as it does after its last thread.
static void at_exit(void *unused) {
  (void)unused;
  check_at_end(NULL);
  if (!undead_session_in_charge() || undead_process_now() == UNDEAD_PROCESS_BORROWED) return;
  int saved_errno = errno;
  bool traps = undead_zombies_note_end();
  if (traps && !undead_record_is_left_out()) undead_zombies_trap();
  errno = saved_errno;
}

void undead_exit_register(void) { __cxa_atexit(at_exit, NULL, NULL); }

void undead_main_returned(const undead_call_site *site) { check_at_end(site); }

typedef void (*exit_function)(int) __attribute__((noreturn));

// Called by the stub that interposes exit(); returns the function to go on with.
__attribute__((visibility("hidden"))) exit_function undead_exit_called(const undead_call_site *site);
exit_function undead_exit_called(const undead_call_site *site) {
  check_at_end(site);
  return UNDEAD_NEXT(exit);
}

static void note_unchecked_exit(const char *how) {
  if (!undead_session_in_charge() || undead_exit_under_way()) return;
  undead_process process = undead_process_now();
  if (process == UNDEAD_PROCESS_BORROWED) return;
  if (process == UNDEAD_PROCESS_FORKED) undead_session_adopt_child();
  if (undead_state_get()->stage == UNDEAD_STAGE_RECORDING) undead_state_set_stage(UNDEAD_STAGE_UNCHECKED, how);
}

static _Noreturn void end_process(int status) {
  for (;;) syscall(SYS_exit_group, status);
}

UNDEAD_PUBLIC _Noreturn void _exit(int status) {
  note_unchecked_exit("the program ended by _exit()");
  exit_function next = UNDEAD_NEXT(_exit);
  if (next) next(status);
  end_process(status);
}

UNDEAD_PUBLIC _Noreturn void _Exit(int status) {
  note_unchecked_exit("the program ended by _Exit()");
  exit_function next = UNDEAD_NEXT(_Exit);
  if (next) next(status);
  end_process(status);
}

UNDEAD_PUBLIC _Noreturn void quick_exit(int status) {
  note_unchecked_exit("the program ended by quick_exit()");
  exit_function next = UNDEAD_NEXT(quick_exit);
  if (next) next(status);
  end_process(status);
}
