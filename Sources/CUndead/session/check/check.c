#include "session/check/check.h"
#include "platform/images/c_library.h"
#include "platform/system/clock.h"
#include "platform/images/image_pages.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "platform/system/time_limit.h"
#include "runtime/layout.h"
#include "scan/premises.h"
#include "session/stacks/stacks.h"
#include "session/snapshot/snapshot.h"
#include "session/sections/facts.h"
#include "session/signals/signals.h"
#include "session/limits/limits.h"
#include "session/state/process.h"
#include "session/state/settings.h"
#include "session/state/state_file.h"
#include "session/buffers/buffers.h"
#include "world/descriptors.h"
#include "world/world.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { IDLE, CLAIMED, RUNNING, ENDING, DONE };

// A check that shows no sign of life for so much longer than a scan may take is given up, so that the program can end.
#define MORE_SECONDS 60

#define FORK_PATIENCE_SECONDS 2
#define PATIENCE_WITH_SOURCES 10000   // milliseconds; as undead_facts_source says

static undead_check the_check;
static uint32_t forks_under_way;
static uint32_t phase = IDLE;

static void set_phase(uint32_t value) {
  __atomic_store_n(&phase, value, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

// Waits until the phase is none of `first` and `second`; false after too long without progress.
static bool wait_while(uint32_t first, uint32_t second) {
  uint64_t activity = undead_state_activity();
  int64_t since = undead_seconds_now();
  uint32_t now;
  while ((now = __atomic_load_n(&phase, __ATOMIC_ACQUIRE)) == first || now == second) {
    struct timespec slice = {.tv_sec = 1};
    syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, now, &slice, NULL, 0);
    if (undead_state_activity() != activity) {
      activity = undead_state_activity();
      since = undead_seconds_now();
    }
    if (undead_seconds_now() - since > undead_scan_limit_seconds() + MORE_SECONDS) return false;
  }
  return true;
}

undead_check *undead_check_try_claim(void) {
  uint32_t expected = IDLE;
  if (__atomic_load_n(&forks_under_way, __ATOMIC_SEQ_CST) > 0) return NULL;
  if (!__atomic_compare_exchange_n(&phase, &expected, CLAIMED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return NULL;
  memset(&the_check, 0, sizeof(the_check));
  return &the_check;
}

undead_check *undead_check_claim(void) {
  // Once the instrument stands aside none begins any more.
  while (!undead_session_has_left()) {
    undead_check *check = undead_check_try_claim();
    if (check) return check;
    uint32_t now = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
    if (now == IDLE) sched_yield();   // a fork is under way
    else if (!wait_while(now, now)) return NULL;
  }
  return NULL;
}

bool undead_check_end_with(int signal) {
  if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != RUNNING) return false;
  int none = 0;
  int *last = &the_check.final_signal;
  if (!__atomic_compare_exchange_n(last, &none, signal, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return false;
  // If it ended in between it may not have seen the signal.
  return __atomic_load_n(&phase, __ATOMIC_SEQ_CST) == RUNNING;
}

void undead_check_release(undead_check *check) {
  (void)check;
  set_phase(IDLE);
}

void undead_check_before_fork(void) {
  __atomic_add_fetch(&forks_under_way, 1, __ATOMIC_SEQ_CST);
  int64_t deadline = 0;
  for (uint32_t now; (now = __atomic_load_n(&phase, __ATOMIC_SEQ_CST)) == CLAIMED || now == RUNNING;) {
    if (!deadline) deadline = undead_seconds_now() + FORK_PATIENCE_SECONDS;
    if (undead_seconds_now() > deadline) return;
    struct timespec slice = {.tv_nsec = 100000000};
    syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, now, &slice, NULL, 0);
  }
}

void undead_check_after_fork_in_parent(void) { __atomic_sub_fetch(&forks_under_way, 1, __ATOMIC_SEQ_CST); }

static uint32_t handlers_under_way;

void undead_check_handler_begins(void) { __atomic_add_fetch(&handlers_under_way, 1, __ATOMIC_ACQ_REL); }
void undead_check_handler_ends(void) {
  undead_clear_alternate_stack();
  __atomic_sub_fetch(&handlers_under_way, 1, __ATOMIC_ACQ_REL);
}

// An interrupted thread that does not get to run for so long is scanned with the handler's frames.
static void wait_for_handlers(void) {
  const struct timespec moment = {0, 100000};
  for (int i = 0; i < 2000 && __atomic_load_n(&handlers_under_way, __ATOMIC_ACQUIRE); i++)
    syscall(SYS_nanosleep, &moment, NULL);
}

void undead_check_after_fork_in_child(void) {
  forks_under_way = 0;
  handlers_under_way = 0;
  undead_guards_after_fork_in_child();
  __atomic_store_n(&phase, IDLE, __ATOMIC_RELEASE);
}

// The thread gets an empty descriptor table of its own: what it opens is never seen by the program, and it keeps
// nothing of the program's open.
static void leave_descriptors_alone(void) {
  const unsigned unshare_table = 1u << 1;   // CLOSE_RANGE_UNSHARE
  unsigned first = undead_settings_get()->verbose ? STDERR_FILENO + 1 : 0;
  syscall(SYS_close_range, first, ~0u, unshare_table);
}

// Before anything of the check is in the way: the program's layers may allocate and open what they need.
static void ask_for_facts(undead_check *check) {
  undead_state_set_step("asking the program");
  check->facts = undead_facts_gather(PATIENCE_WITH_SOURCES);
  if (!check->facts) return;
  check->options.watched = (const undead_watched_target *)check->facts->targets.bytes;
  check->options.watched_count = (uint32_t)(check->facts->targets.size / sizeof(undead_watched_target));
  check->options.loop_items = (const undead_loop_item *)check->facts->items.bytes;
  check->options.loop_item_count = (uint32_t)(check->facts->items.size / sizeof(undead_loop_item));
}

static void look_for_leaks(void *context) {
  undead_check *check = context;
  undead_state_set_step("finding the Swift runtime");
  // What is looked at now takes the place of the code that the program ran.
  if (strcmp(check->trigger, "exit") == 0) undead_image_pages_let_go();
  undead_modules_refresh();
  if (!undead_runtime_find()) {
    check->without_swift = !undead_swift_is_present();
    undead_text_copy(check->message, sizeof(check->message),
                     check->without_swift ? "the program does not use the Swift runtime"
                                          : "the Swift runtime is linked into the program, and its symbols were stripped; keep them (strip -g)");
    return;
  }
  undead_state_get()->flags |= UNDEAD_STATE_SWIFT;
  if (check->counts_types) {
    undead_state_set_step("counting");
    undead_census_on_request(check);
    return;
  }
  undead_state_set_step("scanning");
  check->options.unknown_blocks = undead_session_has_gaps();
  wait_for_handlers();
  bool writes = !check->options.census && !check->compares_only;
  if (writes && !undead_snapshot_begin(check)) return;
  if (!check->options.census) undead_refute_prepare(check);
  undead_scan_result *result = undead_scan(&check->options);
  if (!result) {
    undead_text_copy(check->message, sizeof(check->message), "there is no memory for the scan");
    undead_snapshot_end(check);
    return;
  }
  undead_held_scopes_note(result);
  if (!check->options.census) undead_refute_compare(check, result);
  if (writes) {
    check->succeeded = undead_snapshot_make(check, result);
    undead_snapshot_end(check);
    undead_symbols_let_go();
  } else {
    check->succeeded = result->error == UNDEAD_SCAN_OK;
    undead_text_copy(check->message, sizeof(check->message), result->message);
  }
  undead_scan_free(result);
}

// What was open or mapped when it crashed is lost: the process ends, or can spare it.
static void note_crash(undead_check *check, int signal) {
  undead_text text = undead_text_in(check->message, sizeof(check->message));
  undead_text_add(&text, "the search for leaks crashed with signal ");
  undead_text_number(&text, signal);
  undead_text_join(&text, " while ", undead_state_get()->step, ": objects or types of the program may be damaged");
  check->succeeded = false;
  undead_symbols_forget();
  undead_snapshot_discard();
}

static void note_outcome(undead_check *check) {
  if (!check->succeeded) undead_say("no snapshot: ", check->message);
  if (!check->in_session) return;
  undead_state_set_step("");
  const char *message = check->succeeded ? NULL : check->message;
  bool goes_on = check->unattended && !check->final_signal;
  if (goes_on) undead_state_set_stage(UNDEAD_STAGE_RECORDING, message);
  else if (check->succeeded || check->without_swift) undead_state_set_stage(UNDEAD_STAGE_WRITTEN, message);
  else undead_state_set_stage(UNDEAD_STAGE_FAILED, message);
}

static void *run_check(void *argument) {
  undead_check *check = argument;
  undead_thread.ignored++;
  if (check->in_session) undead_state_set_stage(UNDEAD_STAGE_SCANNING, NULL);
  if (!check->counts_types && !check->compares_only) ask_for_facts(check);
  undead_descriptors_keep();
  leave_descriptors_alone();
  int crash = undead_guarded(look_for_leaks, check);
  undead_descriptors_drop();
  if (crash) note_crash(check, crash);
  undead_facts_release(check->facts);
  check->facts = NULL;
  note_outcome(check);
  undead_discard_stack();
  bool unattended = check->unattended, answers = check->in_session && strcmp(check->trigger, "request") == 0;
  // Before the signal is asked for: one that comes later is not left to this check. Until it is done it is nobody else's.
  set_phase(ENDING);
  int signal = __atomic_load_n(&check->final_signal, __ATOMIC_SEQ_CST);
  if (signal) undead_die_of(signal);
  set_phase(unattended ? IDLE : DONE);
  // Last of all: from here on another one can be asked for.
  if (answers) __atomic_add_fetch(&undead_state_get()->answers, 1, __ATOMIC_RELEASE);
  undead_thread.ignored--;
  return NULL;
}

static void prove(void *context) {
  undead_check *check = context;
  undead_modules_refresh();
  char text[UNDEAD_PREMISE_TEXT];
  // Where the look that follows would be refused, nothing is proved.
  if (undead_runtime_find() && undead_premises_hold(text, sizeof text)) undead_proof_search(check->proof);
  check->succeeded = true;
}

// Opens nothing, and asks nobody. What it reads may go while it does.
static void *run_proof(void *argument) {
  undead_check *check = argument;
  undead_thread.ignored++;
  if (undead_guarded(prove, check)) undead_symbols_forget();
  undead_discard_stack();
  set_phase(DONE);
  undead_thread.ignored--;
  return NULL;
}

static int create_check_thread(undead_check *check) {
  // Naming asks the Swift runtime, which recurses; under a memory limit less must do.
  static const size_t stack_sizes[] = {8u << 20, 1u << 20, 256u << 10};
  int error = EAGAIN;
  for (size_t i = 0; i < sizeof(stack_sizes) / sizeof(stack_sizes[0]) && error != 0; i++) {
    pthread_t thread;
    error = undead_thread_start(&thread, stack_sizes[i], true, check->proof ? run_proof : run_check, check);
  }
  return error;
}

bool undead_check_start(undead_check *check) {
  if (check->in_session && undead_sandbox_is_unknown()) {
    undead_text_copy(check->message, sizeof(check->message), "the program is in a sandbox (seccomp) that may not allow it");
    return false;
  }
  sigset_t all, before;
  sigfillset(&all);
  undead_change_signal_mask(SIG_SETMASK, &all, &before);   // the new thread inherits it
  undead_thread.ignored++;
  undead_ending_threads_except((uintptr_t)__builtin_thread_pointer());
  __atomic_store_n(&phase, RUNNING, __ATOMIC_RELEASE);
  int error = create_check_thread(check);
  undead_thread.ignored--;
  undead_change_signal_mask(SIG_SETMASK, &before, NULL);
  if (error == 0) return true;
  __atomic_store_n(&phase, CLAIMED, __ATOMIC_RELEASE);
  undead_text_copy(check->message, sizeof(check->message), "the thread for the scan could not be created: ");
  undead_text text = {check->message, sizeof(check->message), strlen(check->message)};
  // glibc says so where the kernel would have to make the thread in another PID namespace than its process.
  undead_text_add(&text, error == EINVAL ? "the program makes its children in another PID namespace" : undead_error_text(error));
  return false;
}

bool undead_check_wait(undead_check *check) {
  if (wait_while(RUNNING, ENDING)) return true;
  undead_text_copy(check->message, sizeof(check->message), "the search for leaks made no progress any more");
  return false;
}
