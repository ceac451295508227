#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Recording that is put into a program that runs. Nothing of a session is here: no thread, no signal handler, no file. What
// was recorded is read in a copy of the program's memory.
#include "undead_attach.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "record/attached.h"
#include "record/mode.h"
#include "record/sample.h"
#include "session/state/session.h"
#include "session/buffers/text.h"
#include "unwind/settings.h"
#include <errno.h>
#include <time.h>

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);


// The tool looks at one process: a child that it did not ask for goes on without us.
static void after_fork_in_child(void) {
  if (!undead_recording_since) return;
  undead_record_stop();
  undead_recording_since = 0;
  undead_record_after_fork_in_child();
}

static uint64_t nanoseconds(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
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
  if (request->flags & UNDEAD_RECORD_WITHOUT_BACKTRACES) return UNDEAD_RECORD_BLOCKS;
  if (!request->sample_bytes) return UNDEAD_RECORD_BACKTRACES;
  undead_sample_set(request->sample_bytes, 0);
  return UNDEAD_RECORD_SAMPLED;
}

static int begin(undead_record_request *request) {
  const char *why = obstacle();
  if (why) {
    answer(request, why);
    return UNDEAD_RECORD_REFUSED;
  }
  static bool registered;
  if (!registered) registered = __register_atfork(NULL, NULL, after_fork_in_child, NULL) == 0;
  if (request->depth > 0 && request->depth <= UNDEAD_DEPTH_LIMIT) undead_backtrace_depth = request->depth;
  undead_recording_since = nanoseconds();
  undead_record_start(mode_for(request));
  request->places = (uint32_t)undead_attach_hooks();
  if (request->places) {
    answer(request, "");
    return UNDEAD_RECORD_DONE;
  }
  undead_record_stop();
  undead_recording_since = 0;
  answer(request, "nothing in the program calls the allocator by a pointer that could be changed, or another copy of the recorder did");
  return UNDEAD_RECORD_REFUSED;
}

int undead_record_attached(undead_record_request *request) {
  if (!is_valid(request)) return UNDEAD_RECORD_INVALID;
  int saved_errno = errno, result = UNDEAD_RECORD_ALREADY;
  undead_thread.ignored++;
  if (undead_recording_since) answer(request, "the program is recorded already");
  else result = begin(request);
  undead_thread.ignored--;
  errno = saved_errno;
  return result;
}

int undead_record_detach(undead_record_request *request) {
  if (!is_valid(request)) return UNDEAD_RECORD_INVALID;
  int saved_errno = errno, result = UNDEAD_RECORD_ALREADY;
  undead_thread.ignored++;
  if (!undead_recording_since) {
    answer(request, "the program is not recorded");
  } else {
    undead_record_stop();
    request->places = (uint32_t)undead_detach_hooks();
    undead_recording_since = 0;
    answer(request, "");
    result = UNDEAD_RECORD_DONE;
  }
  undead_thread.ignored--;
  errno = saved_errno;
  return result;
}

int undead_record_release(undead_record_request *request) {
  if (!is_valid(request)) return UNDEAD_RECORD_INVALID;
  if (undead_recording_since) {
    answer(request, "the program is recorded");
    return UNDEAD_RECORD_ALREADY;
  }
  undead_thread.ignored++;
  undead_record_forget_all();
  answer(request, "");
  undead_thread.ignored--;
  return UNDEAD_RECORD_DONE;
}
#endif
