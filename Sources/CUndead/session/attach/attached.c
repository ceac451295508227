// Recording that is put into a program that runs. Nothing of a session is here: no thread, no signal handler (but that of zombies),
// no file. What was recorded is read in a copy of the program's memory, the log of zombies in that itself.
//
// Hooks that once handed out blocks of the sample stay: only they can take such a block back.
#include "undead_attach.h"
#include "platform/memory/memory.h"
#include "platform/system/clock.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "record/attached.h"
#include "record/mode.h"
#include "record/sample.h"
#include "session/signals/signals.h"
#include "session/state/interpose.h"
#include "session/state/session.h"
#include "session/buffers/buffers.h"
#include "zombies/zombies.h"
#include <errno.h>
#include <signal.h>

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);


static bool before_had_zombies;

static void attached_before_fork(void) {
  before_had_zombies = undead_zombies_are_active();
  if (before_had_zombies) undead_zombies_before_fork();
}

static void attached_after_fork_in_parent(void) {
  if (before_had_zombies) undead_zombies_after_fork_in_parent();
}

// The tool looks at one process: a child that it did not ask for goes on without us. Blocks of the sample stay where they are.
static void after_fork_in_child(void) {
  if (before_had_zombies) {
    undead_zombies_after_fork_in_child();
    undead_zombies_stop();
  }
  if (!undead_recording_since) return;
  undead_record_stop();
  undead_recording_since = 0;
  undead_record_after_fork_in_child();
}

static void answer(undead_record_request *request, const char *message) {
  request->recording = undead_record_mode > UNDEAD_RECORD_OFF;
  request->started = undead_recording_since;
  request->in_hook = (int64_t)((uintptr_t)&undead_thread.in_hook - (uintptr_t)__builtin_thread_pointer());
  request->table_bytes = undead_own_memory_sizes().addresses;
  undead_text_copy(request->message, sizeof request->message, message);
}

static bool is_valid(const undead_record_request *request) {
  return request && request->version == UNDEAD_RECORD_REQUEST_VERSION && request->bytes == sizeof *request;
}

static const char *obstacle(void) {
  if (!undead_hooks_are_passed_by()) return "the program was started with the recorder";
  const char *why = undead_sanitizer_reason();
  return why ? why : undead_attach_obstacle();
}

static undead_mode mode_for(const undead_record_request *request) {
  if (!request->sample_bytes) return UNDEAD_RECORD_BACKTRACES;
  undead_sample_set(request->sample_bytes, 0);
  return UNDEAD_RECORD_SAMPLED;
}

static int refuse_request(undead_record_request *request, const char *why) {
  answer(request, why);
  return UNDEAD_RECORD_REFUSED;
}

// A fault of the sample must come to its handler, whatever the program does to its signals from now on, and calls of the system
// are uses; an object that escapes from its deinit is seen where it ends.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"   // sigset
static bool attach_others(void) {
  const undead_replacement functions[] = {
      {"sigaction", (uintptr_t)sigaction},     {"signal", (uintptr_t)signal}, {"pthread_sigmask", (uintptr_t)pthread_sigmask},
      {"sigprocmask", (uintptr_t)sigprocmask}, {"sigset", (uintptr_t)sigset}, {"sysv_signal", (uintptr_t)sysv_signal},
      {"__sysv_signal", (uintptr_t)__sysv_signal},
  };
  static bool tried, attached;
  if (tried) return attached;
  tried = true;
  undead_next_find_all();
  attached = undead_attach_others(functions, sizeof functions / sizeof *functions) && undead_buffer_attach() &&
             undead_zombies_attach();
  return attached;
}
#pragma GCC diagnostic pop

// The runtime is watched while it allocates, so the hooks must be there.
static bool start_zombies(const undead_record_request *request) {
  undead_zombie_options options;
  undead_zombie_sampled_options(&options, request->zombie_rate);
  options.guard_types = request->zombie_types;
  undead_thread.ignored--;
  bool started = undead_zombies_turn_on(&options);
  undead_thread.ignored++;
  if (started) undead_zombie_log_begin();
  return started;
}

static int begin_attached(undead_record_request *request) {
  static bool registered;
  bool records = !(request->flags & UNDEAD_RECORD_ZOMBIES_ONLY), were_in = undead_hooks_are_attached();
  const char *why = obstacle();
  if (why) return refuse_request(request, why);
  if (!registered)
    registered = __register_atfork(attached_before_fork, attached_after_fork_in_parent, after_fork_in_child, NULL) == 0;
  if (request->zombie_rate && !attach_others()) return refuse_request(request, "functions that the sample needs were not found");
  if (records) {
    undead_recording_since = undead_wall_time();
    undead_record_start(mode_for(request));
  }
  request->places = (uint32_t)undead_attach_hooks();
  if (!request->places && !were_in)
    why = "nothing in the program calls the allocator by a pointer that could be changed, or another copy of the recorder did";
  else if (request->zombie_rate && !start_zombies(request)) why = undead_zombie_inactive_reason();
  if (!why) {
    answer(request, "");
    return UNDEAD_RECORD_DONE;
  }
  if (records) undead_record_stop(), undead_recording_since = 0;
  if (!were_in) undead_detach_hooks();
  return refuse_request(request, why);
}

// Why not both what is asked for and what is on already, or NULL.
static const char *what_is_on(const undead_record_request *request) {
  if (undead_recording_since && !(request->flags & UNDEAD_RECORD_ZOMBIES_ONLY)) return "the program is recorded already";
  if (undead_zombies_are_active() && request->zombie_rate) return "zombies are sampled in the program already";
  return NULL;
}

int undead_record_attached(undead_record_request *request) {
  if (!is_valid(request)) return UNDEAD_RECORD_INVALID;
  request->zombie_types[sizeof request->zombie_types - 1] = 0;
  int saved_errno = errno, result = UNDEAD_RECORD_ALREADY;
  undead_thread.ignored++;
  const char *on = what_is_on(request);
  if (on) answer(request, on);
  else result = begin_attached(request);
  undead_thread.ignored--;
  errno = saved_errno;
  return result;
}

static void end_attached(undead_record_request *request) {
  bool records = undead_recording_since && request->flags & UNDEAD_RECORD_ZOMBIES_ONLY;
  if (undead_zombies_are_active()) undead_zombies_note_end();
  undead_zombies_stop();
  if (!records) undead_record_stop(), undead_recording_since = 0;
  // glibc knows nothing of blocks of the sample that are freed later.
  request->keeps_hooks = records || undead_zombies_have_pool();
  request->places = request->keeps_hooks ? 0 : (uint32_t)undead_detach_hooks();
  answer(request, "");
}

int undead_record_detach(undead_record_request *request) {
  if (!is_valid(request)) return UNDEAD_RECORD_INVALID;
  int saved_errno = errno, result = UNDEAD_RECORD_ALREADY;
  undead_thread.ignored++;
  if (!undead_recording_since && !undead_zombies_are_active()) answer(request, "the program is not recorded");
  else end_attached(request), result = UNDEAD_RECORD_DONE;
  undead_thread.ignored--;
  errno = saved_errno;
  return result;
}

int undead_record_release(undead_record_request *request) {
  if (!is_valid(request)) return UNDEAD_RECORD_INVALID;
  if (undead_hooks_are_attached()) {
    answer(request, "the program is recorded");
    return UNDEAD_RECORD_ALREADY;
  }
  undead_thread.ignored++;
  undead_record_forget_all();
  answer(request, "");
  undead_thread.ignored--;
  return UNDEAD_RECORD_DONE;
}
