// A thread that waits on its own stack, and then on a fiber's, which it makes of a block. Both count as a whole while it is there.
// In its registers is what nobody uses.
#define _GNU_SOURCE
#include "program.h"
#include "threads.h"
#include <ucontext.h>

static uintptr_t disguised;
static int pipe_ends[2];
static ucontext_t own, other;

static void set_registers(uintptr_t value) {
#if defined(__x86_64__)
  __asm__ volatile("mov %0, %%rax\n\tnot %%rax\n\tmovq %%rax, %%xmm15\n\txor %%eax, %%eax" : : "r"(value) : "rax", "xmm15");
#else
  (void)value;
#endif
}

static __attribute__((noinline)) void wait_with_stale_register(uintptr_t value) {
  char byte;
  set_registers(value);
  while (read(pipe_ends[0], &byte, 1) != 1) {
  }
  set_registers(~(uintptr_t)0);
}

// Deep enough for what a stop leaves there to be out of the way of what follows.
static __attribute__((noinline)) void wait_deeper(void) {
  volatile char room[16384];
  room[0] = 1;
  wait_with_stale_register(disguised);
  room[1] = room[0];
}

static void wait_in_fiber(void) { wait_with_stale_register(disguised); }

static void *wait_here_and_there(void *unused) {
  size_t size = 64 << 10;
  getcontext(&other);
  other.uc_stack.ss_sp = calloc(1, size);
  other.uc_stack.ss_size = size;
  other.uc_link = &own;
  makecontext(&other, wait_in_fiber, 0);
  wait_deeper();
  swapcontext(&own, &other);
  return unused;
}

void start_fiber(uintptr_t reference) {
  disguised = reference;
  if (pipe(pipe_ends)) abort();
  start(wait_here_and_there, NULL);
}

void switch_to_fiber(void) {
  if (write(pipe_ends[1], "", 1) != 1) abort();
}
