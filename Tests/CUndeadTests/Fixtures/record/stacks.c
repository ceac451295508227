// Allocations at the very end of small stacks: of threads, fibers and signal handlers. Linked with the sources of the
// instrument.
#define _GNU_SOURCE
#include "check.h"
#include "record/mode.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

// Without us malloc needs a third of this.
enum { LEFT = 800, GUARD = 4096, THREAD_BYTES = 16384, FIBER_BYTES = 8192 };

static char *stack;   // its lowest address; below is a guard

static void check_known(void *block) {
  // Without a look at its frames: there is no room for them here.
  uint32_t *slot = undead_registry_slot((uintptr_t)block);
  bool sampled = undead_record_mode == UNDEAD_RECORD_SAMPLED;
  CHECK(sampled ? undead_registry_knows((uintptr_t)block) : slot && *slot > UNDEAD_BACKTRACE_NONE);
}

// Frames with and without tables, realigned ones, and one that nothing can unwind.
void *odd_frame(void *(*function)(size_t), size_t size);
void *bare_frame(void *(*function)(size_t), size_t size);
__asm__(
    ".text\n"
    "odd_frame:\n"
    "  push %rbx\n"
    "  mov %rsp, %rbx\n"
    "  and $-64, %rsp\n"
    "  mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  call *%rax\n"
    "  mov %rbx, %rsp\n"
    "  pop %rbx\n"
    "  ret\n"
    "bare_frame:\n"
    "  sub $24, %rsp\n"
    "  mov %rdi, %rax\n"
    "  mov %rsi, %rdi\n"
    "  call *%rax\n"
    "  add $24, %rsp\n"
    "  ret\n");

static __attribute__((noinline)) void realigned(void) {
  volatile _Alignas(32) char local[32];
  local[0] = 1;
  void *block = malloc(48);
  check_known(block);
  free(block);
  local[1] = local[0];
}

static __attribute__((noinline)) void plain(size_t size) {
  void *block = malloc(size);
  block = realloc(block, size * 3);
  check_known(block);
  free(block);
}

static __attribute__((noinline)) void odd(void) {
  free(odd_frame(malloc, 40));
  free(bare_frame(malloc, 40));
}

// Takes stack until only LEFT bytes are free.
static __attribute__((noinline)) void at_the_end(void (*work)(void)) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  size_t taken = here - (uintptr_t)stack - LEFT - 64;
  volatile char *room = alloca(taken);
  room[0] = 0;
  work();
  room[taken - 1] = 0;
}

static void plain_work(void) {
  plain(32);
  plain(200000);
}

static void everything(void) {
  at_the_end(realigned);
  at_the_end(odd);
  at_the_end(plain_work);
}

static char *make_stack(size_t size) {
  char *memory = mmap(NULL, size + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, GUARD, PROT_NONE);
  return memory + GUARD;
}

static void *run(void *unused) {
  everything();
  return unused;
}

static void in_thread(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  stack = make_stack(THREAD_BYTES);
  CHECK(pthread_attr_setstack(&attributes, stack, THREAD_BYTES) == 0);
  CHECK(pthread_create(&thread, &attributes, run, NULL) == 0);
  pthread_join(thread, NULL);
}

static ucontext_t main_context, fiber_context;

static void run_fiber(void) {
  everything();
  swapcontext(&fiber_context, &main_context);
}

static void in_fiber(void) {
  stack = make_stack(FIBER_BYTES);
  getcontext(&fiber_context);
  fiber_context.uc_stack = (stack_t){.ss_sp = stack, .ss_size = FIBER_BYTES};
  makecontext(&fiber_context, run_fiber, 0);
  swapcontext(&main_context, &fiber_context);
}

static void on_signal(int number) {
  (void)number;
  everything();
}

static void in_handler(void) {
  size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2 * LEFT;
  stack = make_stack((size + GUARD - 1) & ~(size_t)(GUARD - 1));
  stack_t alternate = {.ss_sp = stack, .ss_size = size}, none = {.ss_flags = SS_DISABLE};
  sigaltstack(&alternate, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  sigaltstack(&none, NULL);
}

int main(void) {
  undead_backtrace_load_libunwind();
  for (int round = 0; round < 3; round++) {
    in_thread();
    in_fiber();
    in_handler();
  }
  return failures != 0;
}
