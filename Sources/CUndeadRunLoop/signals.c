#if defined(__linux__) && __has_include(<gnu/libc-version.h>)  // glibc
// Signals as readable descriptors. signalfd would need the signal blocked in every thread; a handler does not.
#define _GNU_SOURCE
#include "CUndeadRunLoop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

// A listener and its descriptor are kept for the next who listens for the same signal, and never freed or closed: a
// handler that is just at work would write to whatever gets the number then.
typedef struct listener {
  struct listener *next;
  _Atomic int descriptor;
  _Atomic bool listens;
  // It arrived in a child that has not made the descriptor its own yet.
  _Atomic bool was_missed;
  _Atomic uint32_t process;
} listener;

static _Atomic(listener *) listeners[NSIG];
static struct sigaction previous[NSIG];
static int listener_count[NSIG];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void on_signal(int signal) {
  int saved = errno;
  for (listener *each = atomic_load(&listeners[signal]); each; each = each->next) {
    if (!atomic_load(&each->listens)) continue;
    if (undead_loop_is_process(atomic_load(&each->process)))
      undead_loop_wake(atomic_load(&each->descriptor));
    else
      atomic_store(&each->was_missed, true);
  }
  errno = saved;
}

static int install(int signal) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  return sigaction(signal, &action, &previous[signal]) == 0 ? 0 : -errno;
}

// A handler that was put in place of ours stays.
static void restore(int signal) {
  struct sigaction present;
  if (sigaction(signal, NULL, &present) != 0 || (present.sa_flags & SA_SIGINFO) || present.sa_handler != on_signal)
    return;
  sigaction(signal, &previous[signal], NULL);
}

static listener *make_listener(int signal) {
  listener *made = calloc(1, sizeof *made);
  int descriptor = made ? undead_loop_wake_create() : -ENOMEM;
  if (descriptor < 0) {
    free(made);
    errno = -descriptor;
    return NULL;
  }
  atomic_store(&made->descriptor, descriptor);
  atomic_store(&made->process, undead_loop_process());
  made->next = atomic_load(&listeners[signal]);
  atomic_store(&listeners[signal], made);
  return made;
}

// Gives a listener a descriptor that no other process has. The caller holds the lock.
static int adopt(listener *inherited) {
  if (undead_loop_is_process(atomic_load(&inherited->process))) return 0;
  int replaced = undead_loop_replace(atomic_load(&inherited->descriptor), undead_loop_wake_create());
  if (replaced < 0) return replaced;
  atomic_store(&inherited->descriptor, replaced);
  atomic_store(&inherited->process, undead_loop_process());
  if (atomic_exchange(&inherited->was_missed, false)) undead_loop_wake(replaced);
  return 0;
}

// Returns a descriptor, or -errno. The caller holds the lock.
static int listen_for(int signal) {
  listener *found = atomic_load(&listeners[signal]);
  while (found && atomic_load(&found->listens)) found = found->next;
  if (!found && !(found = make_listener(signal))) return -errno;
  int error = adopt(found);
  if (error == 0 && listener_count[signal] == 0) error = install(signal);
  if (error != 0) return error;
  atomic_store(&found->was_missed, false);
  undead_loop_drain(atomic_load(&found->descriptor));
  atomic_store(&found->listens, true);
  listener_count[signal]++;
  return atomic_load(&found->descriptor);
}

static listener *find(int signal, int descriptor) {
  listener *each = atomic_load(&listeners[signal]);
  while (each && !(atomic_load(&each->listens) && atomic_load(&each->descriptor) == descriptor)) each = each->next;
  return each;
}

static void before_fork(void) { pthread_mutex_lock(&table_lock); }
static void after_fork(void) { pthread_mutex_unlock(&table_lock); }
static void prepare_for_forks(void) { undead_loop_at_fork(before_fork, after_fork, after_fork); }

static bool is_usable(int signal) {
  if (signal <= 0 || signal >= NSIG || signal == SIGKILL || signal == SIGSTOP) return false;
  return signal != SIGSEGV && signal != SIGBUS && signal != SIGFPE && signal != SIGILL && signal != SIGTRAP;
}

int undead_loop_signal_open(int signal) {
  if (!is_usable(signal)) return -EINVAL;
  pthread_once(&fork_once, prepare_for_forks);
  pthread_mutex_lock(&table_lock);
  int descriptor = listen_for(signal);
  pthread_mutex_unlock(&table_lock);
  return descriptor;
}

void undead_loop_signal_close(int signal, int descriptor) {
  pthread_mutex_lock(&table_lock);
  listener *found = find(signal, descriptor);
  if (found) {
    atomic_store(&found->listens, false);
    if (--listener_count[signal] == 0) restore(signal);
  }
  pthread_mutex_unlock(&table_lock);
}

int undead_loop_signal_adopt(int signal, int descriptor) {
  pthread_mutex_lock(&table_lock);
  listener *found = find(signal, descriptor);
  int error = found ? adopt(found) : -EBADF;
  if (error == 0) descriptor = atomic_load(&found->descriptor);
  pthread_mutex_unlock(&table_lock);
  return error == 0 ? descriptor : error;
}
#endif
