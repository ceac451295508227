// Signals as readable descriptors. signalfd would need the signal blocked in every thread; a handler does not.
#define _GNU_SOURCE
#include "CUndeadRunLoop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { listeners_per_signal = 16 };

// A slot holds descriptor + 1, 0 if free: handlers read it without a lock.
static _Atomic int listeners[NSIG][listeners_per_signal];
static struct sigaction previous[NSIG];
static int listener_count[NSIG];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_signal(int signal) {
  int saved = errno;
  for (int i = 0; i < listeners_per_signal; i++) {
    int slot = atomic_load_explicit(&listeners[signal][i], memory_order_acquire);
    if (slot != 0) undead_loop_wake(slot - 1);
  }
  errno = saved;
}

static int install(int signal) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  return sigaction(signal, &action, &previous[signal]) == 0 ? 0 : -errno;
}

static int register_listener(int signal, int descriptor) {
  for (int i = 0; i < listeners_per_signal; i++) {
    if (atomic_load(&listeners[signal][i]) != 0) continue;
    atomic_store(&listeners[signal][i], descriptor + 1);
    int error = listener_count[signal] == 0 ? install(signal) : 0;
    if (error != 0) {
      atomic_store(&listeners[signal][i], 0);
      return error;
    }
    listener_count[signal]++;
    return 0;
  }
  return -ENOSPC;
}

int undead_loop_signal_open(int signal) {
  if (signal <= 0 || signal >= NSIG || signal == SIGKILL || signal == SIGSTOP) return -EINVAL;
  int descriptor = undead_loop_wake_create();
  if (descriptor < 0) return descriptor;
  pthread_mutex_lock(&table_lock);
  int error = register_listener(signal, descriptor);
  pthread_mutex_unlock(&table_lock);
  if (error == 0) return descriptor;
  close(descriptor);
  return error;
}

void undead_loop_signal_close(int signal, int descriptor) {
  pthread_mutex_lock(&table_lock);
  for (int i = 0; i < listeners_per_signal; i++) {
    if (atomic_load(&listeners[signal][i]) != descriptor + 1) continue;
    atomic_store(&listeners[signal][i], 0);
    if (--listener_count[signal] == 0) sigaction(signal, &previous[signal], NULL);
    break;
  }
  pthread_mutex_unlock(&table_lock);
  close(descriptor);
}
