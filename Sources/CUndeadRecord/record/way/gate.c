#include "record/gate.h"
#include "platform/memory/own_data.h"
#include "platform/system/clock.h"
#include "platform/processor/processor.h"
#include "platform/system/time_limit.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Longer than any scan: the thread that closed the gate has ended.
enum { MORE_SECONDS = 30 };

volatile int32_t undead_gate;
static int32_t scanner_thread;
// How often the gate was closed: who was seen at it the last time may have gone on since.
static uint32_t closings;

// Threads at the gate. One for which there is no room waits all the same.
#define WAITERS 64
typedef struct {
  volatile int32_t tid;        // 0: free
  volatile uint32_t closing;   // the last of `closings` that keeps the thread here
  uintptr_t sp, thread_pointer;
} gate_waiter;
static gate_waiter waiters[WAITERS];

void undead_gate_close(int32_t process, int32_t scanner) {
  scanner_thread = scanner;
  __atomic_fetch_add(&closings, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&undead_gate, process, __ATOMIC_RELEASE);
}

// The helper is another process: the futex cannot be a private one.
void undead_gate_open(void) {
  if (!__atomic_exchange_n(&undead_gate, 0, __ATOMIC_ACQ_REL)) return;
  int saved = errno;
  syscall(SYS_futex, &undead_gate, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  errno = saved;
}

static gate_waiter *take_waiter(int32_t tid) {
  // A signal handler may have jumped out of an earlier wait.
  for (int i = 0; i < WAITERS; i++)
    if (__atomic_load_n(&waiters[i].tid, __ATOMIC_RELAXED) == tid) return &waiters[i];
  for (int i = 0; i < WAITERS; i++) {
    int32_t none = 0;
    if (__atomic_compare_exchange_n(&waiters[i].tid, &none, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return &waiters[i];
  }
  return NULL;
}

static __attribute__((noinline)) void wait_here(int32_t process, int32_t tid, gate_waiter *waiter) {
  int64_t end = undead_seconds_now() + undead_scan_limit_seconds() + MORE_SECONDS;
  for (;;) {
    uint32_t closing = __atomic_load_n(&closings, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&undead_gate, __ATOMIC_SEQ_CST) != process || undead_seconds_now() >= end) return;
    // A signal handler that waited here, too, has given the entry back.
    if (waiter && waiter->tid == tid) __atomic_store_n(&waiter->closing, closing, __ATOMIC_RELEASE);
    const struct timespec slice = {.tv_nsec = 100000000};
    syscall(SYS_futex, &undead_gate, FUTEX_WAIT, process, &slice, NULL, 0);
  }
}

void undead_gate_wait(void) {
  if (undead_thread.in_hook || undead_thread.held) return;
  // What the callers keep in registers is now in the frame of this function.
  __builtin_unwind_init();
  int saved = errno;
  int32_t process = (int32_t)syscall(SYS_getpid), tid = (int32_t)syscall(SYS_gettid);
  if (tid != scanner_thread) {
    gate_waiter *waiter = take_waiter(tid);
    if (waiter) {
      waiter->sp = undead_stack_pointer();
      waiter->thread_pointer = (uintptr_t)__builtin_thread_pointer();
    }
    wait_here(process, tid, waiter);
    if (waiter && waiter->tid == tid) {
      waiter->closing = 0;
      __atomic_store_n(&waiter->tid, 0, __ATOMIC_RELEASE);
    }
  }
  errno = saved;
}

bool undead_gate_holds(int32_t tid, uintptr_t *sp, uintptr_t *thread_pointer) {
  for (int i = 0; i < WAITERS; i++) {
    const gate_waiter *waiter = &waiters[i];
    if (__atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE) != tid) continue;
    if (__atomic_load_n(&waiter->closing, __ATOMIC_ACQUIRE) != closings) return false;
    *sp = waiter->sp;
    *thread_pointer = waiter->thread_pointer;
    return true;
  }
  return false;
}
