// Captures, with and without the cache, must agree also when a signal handler captures in the middle of a capture.
// Linked with the sources of the instrument.
#define _GNU_SOURCE
#include "platform/memory/thread_state.h"
#include "unwind/backtrace.h"
#include "unwind/settings.h"
#include "unwind/walk_x86_64.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define FRAMES 200

static volatile unsigned long captures, in_handler, wrong;

static __attribute__((noinline)) void capture_and_check(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  uintptr_t found[FRAMES];
  uint32_t indices[FRAMES], count = 0;
  uint32_t id = undead_backtrace_capture(frame[1], (uintptr_t)(frame + 2), frame[0]);
  uint32_t length = undead_backtrace_frames(id, found, FRAMES);
  undead_walk(&undead_thread, (undead_frame){frame[1], (uintptr_t)(frame + 2), frame[0]}, indices, FRAMES, &count);
  captures++;
  bool equal = length == count;
  for (uint32_t index = 0; equal && index < count; index++) equal = found[index] == undead_pcs[indices[index]].pc;
  if (!equal) wrong++;
}

static void on_signal(int number) {
  (void)number;
  in_handler++;
  capture_and_check();
}

static __attribute__((noinline)) int descend(int depth, unsigned seed) {
  capture_and_check();
  int below = depth > 0 ? descend(depth - 1 - (int)(seed & 1), seed / 2 + 77) : 0;
  if (seed & 2) capture_and_check();
  return below + 1;
}

int main(void) {
  // A worker thread that starts this hands down its signal mask.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};
  sigaction(SIGVTALRM, &action, NULL);
  struct itimerval often = {{0, 500}, {0, 500}};
  setitimer(ITIMER_VIRTUAL, &often, NULL);
  unsigned seed = 1;
  while (in_handler < 150) {
    seed = seed * 1664525u + 1013904223u;
    descend((int)(seed >> 27), seed >> 3);
  }
  printf("%lu captures, %lu in the handler, %lu wrong\n", captures, in_handler, wrong);
  return wrong != 0;
}
