// Begins and ends the instrument in a process: before main, in the child of a fork, when an assertion starts a session, and when
// this copy stands aside for another one. Whether a session is under way is in `undead_session`; handlers of fork keep recorder
// and zombies consistent.
#include "undead.h"
#include "platform/images/c_library.h"
#include "platform/system/clock.h"
#include "undead_instrument.h"
#include "platform/memory/boundaries.h"
#include "platform/system/environment.h"
#include "platform/images/image_pages.h"
#include "platform/memory/own_data.h"
#include "record/attached.h"
#include "record/mode.h"
#include "record/reach.h"
#include "record/registry.h"
#include "record/sample.h"
#include "record/way.h"
#include "session/check/check.h"
#include "session/life/life.h"
#include "session/stacks/stacks.h"
#include "session/limits/limits.h"
#include "session/state/interpose.h"
#include "session/state/session.h"
#include "session/state/settings.h"
#include "session/state/state_file.h"
#include "session/state/process.h"
#include "unwind/async_callers.h"
#include "unwind/backtrace.h"
#include "zombies/zombies.h"
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

// Others ask for the table by weak references, which take nothing out of an archive: this one takes it along.
__attribute__((used)) static const undead_instrument *(*const table)(uint32_t) = undead_instrument_table;

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);

static bool prepared;
static bool was_in_charge;
static int32_t mode_before;

// Nobody asks a process that records nothing for a snapshot.
static void set_stage_of_work(void) {
  bool is_unrecorded = undead_record_is_left_out() && undead_zombies_are_active();
  undead_state_set_stage(is_unrecorded ? UNDEAD_STAGE_STOOD_ASIDE : UNDEAD_STAGE_RECORDING,
                         is_unrecorded ? "nothing is recorded beside the sample of zombies; start it with --sample, too" : NULL);
}

static void adopt_child(void) {
  int saved_errno = errno;
  undead_session.forked_from = undead_session.id;
  undead_session.id = getpid();
  undead_session.start_time = undead_wall_time();
  undead_process_mark_again();
  // Forked without the handlers of fork: which blocks are its own is not known.
  if (!undead_registry_own_bit && !undead_is_single_threaded()) undead_registry_inherit();
  undead_check_after_fork_in_child();
  undead_exit_reset();
  undead_signals_reset();
  uint32_t swift = undead_state_get()->flags & UNDEAD_STATE_SWIFT;
  if (undead_state_open(undead_settings_get()->directory, true, false, undead_session.start_time)) {
    undead_state_get()->flags |= swift;
    set_stage_of_work();
    undead_zombies_adopt_child(undead_state_get()->generation);
  } else {
    undead_state_close();
    undead_session.in_charge = false;
  }
  errno = saved_errno;
}

static void leave(const char *why) {
  int saved_errno = errno;
  undead_check_before_fork();   // none is under way then, and none begins any more
  undead_zombies_stop();
  undead_zombies_keep_pages();
  undead_signals_end();
  was_in_charge = undead_session.in_charge;
  mode_before = undead_record_mode;
  undead_session.has_left = true;
  undead_session.in_charge = false;
  undead_record_stop();
  undead_session_set_reason(why);
  if (was_in_charge) undead_state_set_stage(UNDEAD_STAGE_STOOD_ASIDE, why);
  errno = saved_errno;
}

// Takes that back.
static void give_back_hooks(void) {
  int saved_errno = errno;
  undead_session.has_left = false;
  undead_check_after_fork_in_parent();
  if (mode_before > UNDEAD_RECORD_OFF) {
    undead_session.has_gaps = true;   // for what other threads allocated meanwhile
    undead_record_start((undead_mode)mode_before);
  }
  undead_session.in_charge = was_in_charge;
  if (undead_session.in_charge) {
    undead_signals_begin();
    undead_state_set_stage(UNDEAD_STAGE_RECORDING, NULL);
  }
  errno = saved_errno;
}

static bool forks_with_threads;

static void before_fork(void) {
  forks_with_threads = !undead_is_single_threaded();
  if (undead_session.has_left) return;
  int saved_errno = errno;
  undead_check_before_fork();
  undead_zombies_before_fork();
  errno = saved_errno;
}

static void after_fork_in_parent(void) {
  if (undead_session.has_left) return;
  undead_zombies_after_fork_in_parent();
  undead_check_after_fork_in_parent();
}

static void after_fork(void) {
  if (undead_session.has_left) return;
  undead_zombies_after_fork_in_child();
  undead_check_after_fork_in_child();
  undead_record_after_fork_in_child();
  if (forks_with_threads) undead_registry_inherit();
  if (undead_session.in_charge) adopt_child();
}

static void stand_aside(const char *why) {
  undead_session_set_reason(why);
  undead_state_set_stage(UNDEAD_STAGE_STOOD_ASIDE, why);
  undead_say("stands aside: ", why);
  undead_record_stop();
}

// A program that links Undead keeps its own copy in charge, also when the tool preloaded another one.
static void take_over_from_preload(void) {
  void (*yield)(void) = (void (*)(void))undead_symbol(RTLD_NEXT, "undead_session_yield");
  if (yield) yield();
  else undead_forget_symbol_error();
}

void undead_session_yield(void) {
  if (!undead_is_preload) return;
  undead_session_set_reason("a copy of Undead that is linked into the program is in charge");
  undead_record_stop();
  undead_state_close();
  undead_session.in_charge = false;
}

// Returns why it is not possible, or NULL.
static const char *begin_instrument(bool records) {
  if (!undead_hooks_available) return "the program is built with a sanitizer, which replaces the allocator";
  if (undead_session.has_left) return undead_session.reason;
  const char *why = undead_stand_aside_reason();
  if (why) return why;
  undead_reserve_boundaries();
  if (undead_record_decide() <= UNDEAD_RECORD_OFF && records) {
    undead_session.has_gaps = true;
    undead_mode mode = undead_record_samples() ? UNDEAD_RECORD_SAMPLED : UNDEAD_RECORD_BACKTRACES;
    undead_record_start(undead_settings_get()->backtraces ? mode : UNDEAD_RECORD_BLOCKS);
  }
  static bool registered;
  if (!__atomic_exchange_n(&registered, true, __ATOMIC_ACQ_REL))
    __register_atfork(before_fork, after_fork_in_parent, after_fork, NULL);
  undead_limits_begin();
  undead_session_set_reason(undead_is_active() ? "" : "nothing is recorded");
  return NULL;
}

static const char *begin_recording(void) { return begin_instrument(!undead_record_is_left_out()); }

void undead_session_begin_unrecorded(void) {
  undead_session_prepare();
  if (!undead_is_active()) begin_instrument(false);
}

static void begin_session(const char *directory, bool same_image) {
  if (!undead_state_open(directory, false, same_image, undead_session.start_time)) {
    undead_session_set_reason("the session directory cannot be written");
    undead_say("the session directory cannot be written: ", directory);
    undead_record_stop();
    return;
  }
  const char *why = begin_recording();
  if (why) {
    stand_aside(why);
    return;
  }
  undead_process_mark();
  undead_session.in_charge = true;
  undead_state_set_stage(UNDEAD_STAGE_RECORDING, NULL);
}

void undead_session_prepare(void) {
  if (prepared) return;
  prepared = true;
  undead_session.calls = (undead_session_calls){adopt_child, leave, give_back_hooks};
  int saved_errno = errno;
  undead_session.loading_id = undead_session.id = getpid();
  undead_session.start_time = undead_wall_time();
  const undead_settings *settings = undead_settings_get();
  if (undead_is_preload && !settings->directory[0] && undead_hooks_are_passed_by()) {
    // Opened in a program that runs already, or in a copy of one: the caller asks for what it wants.
    undead_session_set_reason("the library was not preloaded");
    undead_record_stop();
  } else if (undead_record_is_sandboxed()) {
    undead_session_set_reason("the program was started in a sandbox (seccomp) that may not allow a check");
    undead_record_stop();
  } else if (settings->directory[0] && !undead_record_is_meant_here()) {
    undead_relay_begin(settings->directory);
    undead_session_set_reason("the session is only for test programs");
    undead_record_stop();
  } else if (settings->turned_off) {
    if (settings->directory[0]) undead_state_open(settings->directory, false, false, undead_session.start_time);
    stand_aside("it was turned off by UNDEAD=0");
  } else if (settings->directory[0]) {
    if (!undead_is_preload) take_over_from_preload();
    begin_session(settings->directory, !undead_is_preload && undead_state_exists(settings->directory));
  } else if (settings->turned_on || undead_record_runs_tests()) {
    const char *why = begin_recording();
    if (why) stand_aside(why);
    else undead_zombies_begin("", 0, undead_zombies_turn_on);
  }
  errno = saved_errno;
}

__attribute__((constructor)) static void prepare_at_load(void) {
  int saved_errno = errno;
  undead_session_prepare();
  // In every program: until then calls of syscall() are made here, and a scan knows libc's system calls only.
  undead_sandbox_find_next();
  errno = saved_errno;
}

// For frames that the own rules cannot unwind; what loading it allocates is not the program's.
static void load_fallback_unwinder(void) {
  if (!undead_settings_get()->backtraces) return;
  undead_thread.ignored++;
  undead_backtrace_load_libunwind();
  undead_thread.ignored--;
}

void undead_session_before_main(void) {
  if (!undead_session.in_charge) return;
  int saved_errno = errno;
  if (undead_swift_is_present()) {
    undead_state_get()->flags |= UNDEAD_STATE_SWIFT;
    load_fallback_unwinder();
    if (undead_record_runs_tests()) {
      undead_async_begin();
      undead_way_choose();
    }
  }
  undead_next_find_all();
  undead_interrupted_prepare();
  undead_exit_register();
  // There is nothing to check where nothing is recorded.
  bool checks = !undead_record_is_left_out();
  if (checks) undead_signals_begin();
  if (undead_state_get()->flags & UNDEAD_STATE_SWIFT) {
    undead_zombies_begin(undead_settings_get()->directory, undead_state_get()->generation, undead_zombies_turn_on);
    if (undead_zombies_are_active()) set_stage_of_work();
    else if (!checks) stand_aside(undead_zombie_inactive_reason());
    // What only the start of the program needed, and ours.
    undead_image_pages_let_go();
    if (checks) undead_recheck_begin();
  }
  errno = saved_errno;
}

bool undead_start(void) {
  int saved_errno = errno;
  undead_session_prepare();
  bool works = !undead_settings_get()->turned_off;
  if (works && !undead_is_active()) {
    const char *why = begin_instrument(true);
    if (why) undead_session_set_reason(why);
    works = !why;
  }
  errno = saved_errno;
  return works;
}

bool undead_start_sampled(uint64_t mean) {
  undead_session_prepare();
  if (!undead_is_active() && mean) undead_sample_set(mean, undead_sample_parse(undead_setting("UNDEAD_STORE_BYTES")));
  return undead_start();
}

void undead_stop(void) {
  if (!undead_is_active()) return;
  undead_record_stop();
  undead_session.has_gaps = true;
  undead_session_set_reason("recording was stopped by undead_stop()");
}
