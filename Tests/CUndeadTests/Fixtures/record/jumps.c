// Signal handlers that jump out of the allocator's hooks, and such that only allocate in the middle of one. Linked with
// the sources of the instrument.
#define _GNU_SOURCE
#include "check.h"
#include "known.h"
#include "record/gate.h"
#include "record/registry.h"
#include "record/way/thread_cache.h"
#include "unwind/backtrace.h"
#include "unwind/capture/capture_x86_64.h"
#include "unwind/settings.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

// What follows is the program's: none of its functions is taken for a hook.
#pragma clang section text = ""

extern const char __executable_start, etext;

enum { JUMP, ALLOCATE };
static volatile int wanted, seen;
static sigjmp_buf way_out;

// Only what interrupts our own code: glibc's allocator does not survive to be left in the middle.
static int interrupts_hook(const ucontext_t *context) {
  uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
  return undead_thread.in_hook && pc >= (uintptr_t)&__executable_start && pc < (uintptr_t)&etext;
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  if (!interrupts_hook(context)) return;
  uintptr_t hook = undead_thread.in_hook;
  seen++;
  if (wanted == JUMP) siglongjmp(way_out, 1);
  void *block = malloc(100);
  CHECK(undead_thread.in_hook == hook);   // it is under way, and goes on
  CHECK(is_recorded(block, 0));
  free(block);
}

static __attribute__((noinline)) void *allocate(int depth, size_t size) {
  volatile char frame[200];
  frame[0] = (char)depth;
  void *block = depth > 0 ? allocate(depth - 1, size) : malloc(size);
  frame[1] = frame[0];
  return block;
}

static __attribute__((noinline)) void work_until_seen(int depth, int target) {
  while (seen < target) free(allocate(depth, 40));
}

static uint32_t depth_of(const void *block) {
  uintptr_t frames[256];
  return undead_backtrace_frames(*undead_registry_slot((uintptr_t)block), frames, 256);
}

// What comes after a jump is recorded as ever, from deeper and from shallower frames.
static void check_state(int depth) {
  free(allocate(depth, 50));
  CHECK(undead_thread.in_hook == 0);
  if (undead_record_mode == UNDEAD_RECORD_SAMPLED) return;   // threads have no caches then
  const undead_unwind_cache *cache = undead_thread.unwind_cache;
  CHECK(cache && !(cache->state & UNDEAD_CACHE_BUSY));
  void *shallow = malloc(60), *deep = allocate(9, 60);
  CHECK(depth_of(deep) == depth_of(shallow) + 10);
  free(shallow);
  free(deep);
}

// MARK: Other functions whose frames end where that of a hook ended

static __attribute__((noinline)) void leave_in_a_hook(void) {
  undead_hook_enter();
  siglongjmp(way_out, 1);
}

static __attribute__((noinline)) bool caller_is_in_a_hook(void) {
  const uintptr_t *own = __builtin_frame_address(0);
  return undead_hook_is_under_way(&undead_thread, (undead_frame){own[1], (uintptr_t)(own + 2), own[0]});
}

static __attribute__((noinline)) void stand_there(uintptr_t hook) {
  CHECK((uintptr_t)__builtin_frame_address(0) == hook);
  CHECK(!caller_is_in_a_hook());
  void *block = malloc(70);
  CHECK(undead_thread.in_hook == 0);
  CHECK(is_recorded(block, 0));
  free(block);
}

static __attribute__((noinline)) void take_the_place(void) {
  if (sigsetjmp(way_out, 1) == 0) leave_in_a_hook();
  uintptr_t hook = undead_thread.in_hook;
  CHECK(hook != 0);
  stand_there(hook);
}

static void jump_often(int count) {
  wanted = JUMP;
  for (volatile int i = 0; i < count; i++) {
    int depth = i % 20;
    if (sigsetjmp(way_out, 1) == 0) work_until_seen(depth, seen + 1);
    CHECK(undead_thread.in_hook != 0);
    // A thread that only waits is not inside, either.
    if (i % 3 == 0) {
      const uintptr_t *own = __builtin_frame_address(0);
      CHECK(!undead_hook_is_under_way(&undead_thread, (undead_frame){own[1], (uintptr_t)(own + 2), own[0]}));
    }
    check_state((i * 7) % 30);
  }
}

static void allocate_often(int count) {
  wanted = ALLOCATE;
  work_until_seen(3, seen + count);
  CHECK(undead_thread.in_hook == 0);
}

static void set_handler(int flags) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | flags};
  sigaction(SIGALRM, &action, NULL);
}

static void set_stack(void *room, size_t size) {
  stack_t stack = {.ss_sp = room, .ss_size = size};
  sigaltstack(&stack, NULL);
}

static void everything(void) {
  set_handler(0);
  jump_often(150);
  allocate_often(50);
  // Alternate stacks that lie beside the thread's own one, and in the middle of it.
  char local[65536];
  void *mapped = mmap(NULL, sizeof local, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *const rooms[] = {mapped, local};
  for (int i = 0; i < 2; i++) {
    set_stack(rooms[i], sizeof local);
    set_handler(SA_ONSTACK);
    jump_often(100);
    allocate_often(50);
  }
  sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}

static void *run(void *signals) {
  pthread_sigmask(SIG_UNBLOCK, signals, NULL);
  everything();
  pthread_sigmask(SIG_BLOCK, signals, NULL);
  return NULL;
}

int main(void) {
  // What interrupts the lists of glibc is like what interrupts glibc: it does not survive that.
  free(malloc(1));
  undead_cache_forget();
  take_the_place();
  // The first signal may come before the next instruction: by then there is a handler, and no hook it could take for one
  // under way, whose way out would be gone.
  free(malloc(1));
  CHECK(undead_thread.in_hook == 0);
  set_handler(0);
  const struct itimerval timer = {{0, 150}, {0, 150}};
  setitimer(ITIMER_REAL, &timer, NULL);
  everything();
  // From here on the signal comes to the other thread alone: ways out are for one.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  pthread_t thread;
  pthread_create(&thread, NULL, run, &signals);
  pthread_join(thread, NULL);
  CHECK(undead_backtrace_dropped() == 0);
  return failures != 0;
}
