// Stacks that C makes: callbacks, realigned frames, code without unwind tables, signals, alternate stacks, deep
// recursion, other stacks, libraries that come and go. Arguments: the plugins to load and unload.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

void *volatile sink;

static __attribute__((noinline)) void touch(size_t size) {
  void *block = malloc(size);
  sink = block;
  free(block);
}

static int compare(const void *left, const void *right) {
  touch(24);
  return *(const int *)left - *(const int *)right;
}

static __attribute__((noinline)) void sort(void) {
  int numbers[64];
  for (int index = 0; index < 64; index++) numbers[index] = (index * 37) % 64;
  qsort(numbers, 64, sizeof(int), compare);
}

static __attribute__((noinline)) void realigned(int depth) {
  _Alignas(64) volatile char buffer[64 + 64];
  buffer[depth & 63] = 1;
  touch(32);
  if (depth > 0) realigned(depth - 1);
  buffer[1]++;
}

static __attribute__((noinline)) void variable_frame(int size) {
  volatile char *space = __builtin_alloca((size_t)size);
  space[0] = 1;
  touch(40);
  if (size > 16) variable_frame(size / 2);
  space[0]++;
}

static __attribute__((noinline)) int recurse(int depth) {
  touch(48);
  int below = depth > 0 ? recurse(depth - 1) : 0;
  if (depth % 7 == 0) touch(56);
  return below + 1;
}

void bare_outer(void (*call)(size_t), size_t size);

static sigjmp_buf back;

static void on_signal(int number) {
  touch(72);
  if (number == SIGUSR2) siglongjmp(back, 1);
}

static void *signals(void *unused) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  for (int round = 0; round < 40; round++) {
    action.sa_flags = round % 2 ? SA_ONSTACK : 0;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    if (sigsetjmp(back, 1) == 0) raise(SIGUSR2);
    touch(80);
  }
  return unused;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int number) {
  (void)number;
  touch(88);
  alarms++;
}

static __attribute__((noinline)) long fibonacci(long number) {
  return number < 2 ? number : fibonacci(number - 1) + fibonacci(number - 2);
}

// Interrupts code that does not allocate, at any instruction, prologues and epilogues too.
static void interrupted(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGVTALRM, &action, NULL);
  struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_VIRTUAL, &often, NULL);
  volatile long total = 0;
  while (alarms < 50) total += fibonacci(20);
  setitimer(ITIMER_VIRTUAL, &never, NULL);
}

static ucontext_t main_context, fiber_context;

static void fiber(void) {
  for (int round = 0; round < 20; round++) {
    touch(96);
    recurse(20);
    swapcontext(&fiber_context, &main_context);
  }
}

static void fibers(void) {
  size_t size = 1 << 17;
  getcontext(&fiber_context);
  fiber_context.uc_stack.ss_sp = malloc(size);
  fiber_context.uc_stack.ss_size = size;
  fiber_context.uc_link = &main_context;
  makecontext(&fiber_context, fiber, 0);
  for (int round = 0; round < 20; round++) {
    touch(104);
    swapcontext(&main_context, &fiber_context);
  }
}

static void load(const char *path) {
  for (int round = 0; round < 10; round++) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      exit(1);
    }
    void (*run)(void (*)(size_t)) = (void (*)(void (*)(size_t)))dlsym(library, "run");
    run(touch);
    dlclose(library);
  }
}

static void *storm(void *depth) {
  for (int round = 0; round < 50; round++) recurse((int)(size_t)depth + round % 5);
  sort();
  return NULL;
}

int main(int count, char **arguments) {
  // A worker thread that starts this hands down its signal mask.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  for (int round = 0; round < 20; round++) {
    sort();
    realigned(5);
    variable_frame(4096);
    recurse(30);
    bare_outer(touch, 64);
  }
  recurse(5000);
  recurse(3);
  recurse(1500);
  pthread_t threads[8];
  for (size_t index = 0; index < 8; index++) pthread_create(&threads[index], NULL, storm, (void *)(index * 10));
  for (size_t index = 0; index < 8; index++) pthread_join(threads[index], NULL);
  pthread_create(&threads[0], NULL, signals, NULL);
  pthread_join(threads[0], NULL);
  interrupted();
  fibers();
  for (int round = 0; round < 3; round++)
    for (int index = 1; index < count; index++) load(arguments[index]);
  puts("done");
  return 0;
}
