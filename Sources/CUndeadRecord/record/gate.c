#define _GNU_SOURCE
#include "record/gate.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Longer than any scan: whoever closed the gate is gone.
enum { PATIENCE_SECONDS = 90 };

volatile int32_t undead_gate;
static int32_t scanner_thread;

void undead_gate_close(int32_t process, int32_t scanner) {
  scanner_thread = scanner;
  __atomic_store_n(&undead_gate, process, __ATOMIC_RELEASE);
}

// The helper is another process: the futex cannot be a private one.
void undead_gate_open(void) {
  if (!__atomic_exchange_n(&undead_gate, 0, __ATOMIC_ACQ_REL)) return;
  int saved = errno;
  syscall(SYS_futex, &undead_gate, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  errno = saved;
}

static time_t seconds(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

void undead_gate_wait(void) {
  if (undead_thread.in_hook || undead_thread.held) return;
  int saved = errno;
  int32_t process = (int32_t)syscall(SYS_getpid);
  time_t end = seconds() + PATIENCE_SECONDS;
  if ((int32_t)syscall(SYS_gettid) != scanner_thread) {
    while (__atomic_load_n(&undead_gate, __ATOMIC_ACQUIRE) == process && seconds() < end) {
      const struct timespec slice = {.tv_sec = 1};
      syscall(SYS_futex, &undead_gate, FUTEX_WAIT, process, &slice, NULL, 0);
    }
  }
  errno = saved;
}
