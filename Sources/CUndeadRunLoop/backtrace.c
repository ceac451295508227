#if defined(__linux__) && __has_include(<gnu/libc-version.h>)  // glibc
#define _GNU_SOURCE
#include "CUndeadRunLoop.h"

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { depth = 128, real_time_signal_offset = 5 };

int undead_loop_backtrace(uintptr_t *frames, int capacity) {
  void *found[depth];
  int count = backtrace(found, depth), kept = 0;
  for (int i = 1; i < count && kept < capacity; i++) frames[kept++] = (uintptr_t)found[i];
  return kept;
}

// One request at a time, under `request_lock`. A late answer to a request that timed out finds another ticket.
static pthread_mutex_t request_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int wanted_thread;
static void *answer[depth];
static _Atomic int answer_count;
static sem_t answered;

static void on_request(int signal) {
  (void)signal;
  int saved = errno;
  int expected = (int)syscall(SYS_gettid);
  if (atomic_compare_exchange_strong(&wanted_thread, &expected, -1)) {
    atomic_store(&answer_count, backtrace(answer, depth));
    sem_post(&answered);
  }
  errno = saved;
}

// Whoever was waiting for an answer is not there in a child.
static void in_child(void) {
  pthread_mutex_init(&request_lock, NULL);
  atomic_store(&wanted_thread, 0);
  sem_init(&answered, 0, 0);
}

static bool prepare_requests(void) {
  static bool prepared;
  struct sigaction action = {.sa_handler = on_request, .sa_flags = SA_RESTART | SA_ONSTACK}, before;
  sigemptyset(&action.sa_mask);
  int signal = SIGRTMAX - real_time_signal_offset;
  if (sigaction(signal, NULL, &before) != 0) return false;
  // The program may have found a use of its own for the signal meanwhile.
  if (prepared) return before.sa_handler == on_request;
  if (before.sa_handler != SIG_DFL) return false;
  void *warm_up[2];
  backtrace(warm_up, 2);  // its first call loads the unwinder, which a signal handler must not
  if (sem_init(&answered, 0, 0) != 0 || sigaction(signal, &action, NULL) != 0) return false;
  undead_loop_at_fork(NULL, NULL, in_child);
  return prepared = true;
}

void undead_loop_allow_backtrace(void) {
  static _Thread_local bool allowed;
  if (allowed) return;
  allowed = true;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGRTMAX - real_time_signal_offset);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int take_answer(uintptr_t *frames, int capacity) {
  enum { handler_frames = 2 };  // the handler and the kernel's trampoline
  int count = atomic_load(&answer_count), kept = 0;
  for (int i = handler_frames; i < count && kept < capacity; i++) frames[kept++] = (uintptr_t)answer[i];
  return kept;
}

int undead_loop_backtrace_of(int32_t thread_id, uintptr_t *frames, int capacity, int64_t timeout) {
  int kept = 0;
  pthread_mutex_lock(&request_lock);
  if (prepare_requests()) {
    int64_t end = undead_loop_realtime() + timeout;
    struct timespec limit = {.tv_sec = end / 1000000000, .tv_nsec = end % 1000000000};
    atomic_store(&wanted_thread, thread_id);
    if (syscall(SYS_tgkill, getpid(), thread_id, SIGRTMAX - real_time_signal_offset) == 0) {
      int result;
      while ((result = sem_timedwait(&answered, &limit)) != 0 && errno == EINTR) {
      }
      int expected = thread_id;
      // Not taken back: the handler is at work on it, and writes into the buffer until it posts.
      if (result != 0 && !atomic_compare_exchange_strong(&wanted_thread, &expected, 0))
        while ((result = sem_wait(&answered)) != 0 && errno == EINTR) {
        }
      if (result == 0) kept = take_answer(frames, capacity);
    }
    atomic_store(&wanted_thread, 0);
  }
  pthread_mutex_unlock(&request_lock);
  return kept;
}
#endif
