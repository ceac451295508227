// How checks call code of the program, or run beside it, without leaving words on stacks that later look like references. Also
// the lock that lets one check run at a time.
#include "undead_assertions.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/system/process_id.h"
#include "platform/processor/processor.h"
#include "platform/memory/thread_state.h"
#include "record/avoid.h"
#include "record/scopes.h"
#include "session/stacks/stacks.h"
#include "unwind/backtrace.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// More than the frames of an assertion and of a check have on the caller's stack, also in a debug build.
#define ROOM_BYTES (16u << 10)

__attribute__((noinline)) void undead_call_deeper(void (*function)(void *), void *context) {
  char room[ROOM_BYTES];
  // A check in the function reads it as part of the stack. The compiler keeps only what somebody may use, here and below.
  memset(room, 0, sizeof(room));
  __asm__ volatile("" : : "r"(room) : "memory");
  // What our own frames on the way here held is free by now.
  if (__atomic_load_n(&undead_open_scopes, __ATOMIC_ACQUIRE)) undead_avoid_stack((uintptr_t)__builtin_frame_address(0));
  function(context);
  __asm__ volatile("" : : "r"(room) : "memory");
}

__attribute__((noinline)) void undead_clear_stack(void) {
  char room[ROOM_BYTES];
  memset(room, 0, sizeof(room));
  __asm__ volatile("" : : "r"(room) : "memory");
}

void undead_discard_stack(void) {
  undead_thread_stack stack;
  undead_thread.ignored++;
  if (undead_own_stack(&stack)) {
    uintptr_t end = undead_page_of((uintptr_t)__builtin_frame_address(0) - ROOM_BYTES);
    // The kernel gives zeros for what is let go.
    if (end > stack.low) madvise((void *)stack.low, end - stack.low, MADV_DONTNEED);
  }
  undead_thread.ignored--;
  undead_clear_stack();
}

// Nothing that is in use lies on a signal stack below the frame of a handler that runs there.
__attribute__((noinline)) void undead_clear_alternate_stack(void) {
  enum { MOST_BYTES = 256 << 10 };
  stack_t stack;
  uintptr_t frame = ((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15) - 2 * sizeof stack - UNDEAD_RED_ZONE;
  if (undead_raw3(SYS_sigaltstack, 0, (long)&stack, 0) != 0 || stack.ss_flags & SS_DISABLE) return;
  uintptr_t low = (uintptr_t)stack.ss_sp;
  if (frame - low >= stack.ss_size) return;
  if (frame - low > MOST_BYTES) low = frame - MOST_BYTES;
  for (volatile uintptr_t *at = (volatile uintptr_t *)((low + 7) & ~(uintptr_t)7); (uintptr_t)at < frame; at++) *at = 0;
}

typedef struct {
  void (*function)(void *);
  void *context;
} thread_call;

static void *run_call(void *argument) {
  thread_call call = *(thread_call *)argument;
  undead_unmap(argument, sizeof(call));
  undead_clear_stack();   // the stack may be that of an ended thread
  call.function(call.context);
  undead_discard_stack();
  return NULL;
}

bool undead_call_on_thread(void (*function)(void *), void *context) {
  thread_call *call = undead_map(sizeof(*call));
  if (!call) return false;
  *call = (thread_call){function, context};
  pthread_t thread;
  undead_thread.ignored++;
  int error = undead_thread_start(&thread, 0, true, run_call, call);
  undead_thread.ignored--;
  if (error) undead_unmap(call, sizeof(*call));
  return error == 0;
}

// The process of the thread that holds the lock, 0 if nobody does.
static int32_t checking_process;
static uint32_t waiting_threads;   // for it; in a forked copy perhaps more than there are

void undead_lock_checks(void) {
  int32_t self = undead_process_id();
  for (;;) {
    int32_t holder = 0;
    if (__atomic_compare_exchange_n(&checking_process, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    // Copied from the parent, whose threads are not here.
    if (holder != self
        && __atomic_compare_exchange_n(&checking_process, &holder, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
    struct timespec slice = {.tv_sec = 1};
    __atomic_add_fetch(&waiting_threads, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &checking_process, FUTEX_WAIT_PRIVATE, holder, &slice, NULL, 0);
    __atomic_sub_fetch(&waiting_threads, 1, __ATOMIC_SEQ_CST);
  }
}

void undead_unlock_checks(void) {
  // In this order: a thread that is not counted yet sees that it is free, and does not wait.
  __atomic_store_n(&checking_process, 0, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&waiting_threads, __ATOMIC_SEQ_CST) == 0) return;
  syscall(SYS_futex, &checking_process, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
