// Threads that are cancelled in the middle of the allocator, destructors that allocate when a thread has nothing of ours
// left, handlers that fork, and allocations before main and after exit handlers. Linked with the sources of the
// instrument.
#define _GNU_SOURCE
#include "check.h"
#include "known.h"
#include "record/gate.h"
#include "record/mode.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include "unwind/capture/capture_x86_64.h"
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern const char __executable_start, etext;

static void check_known(void) {
  void *block = malloc(50);
  CHECK(is_recorded(block, 0));
  free(block);
}

static void check_recorded(void) {
  check_known();
  CHECK(undead_thread.in_hook == 0);
}

__attribute__((constructor(101))) static void early(void) { check_recorded(); }
__attribute__((destructor(101))) static void late(void) {
  check_recorded();
  if (failures) _exit(1);
}

static pthread_key_t key;

// Called again and again, as often as the system does it: behind our own destructor, too.
static void thread_ends(void *rounds) {
  check_recorded();
  if ((uintptr_t)rounds < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(key, (char *)rounds + 1);
}

static void *end_slowly(void *unused) {
  pthread_setspecific(key, (void *)1);
  check_recorded();
  return unused;
}

// Only in our own code: glibc's allocator does not survive to be left in the middle.
static bool is_in_our_hook(const ucontext_t *context) {
  uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
  return undead_thread.in_hook && pc >= (uintptr_t)&__executable_start && pc < (uintptr_t)&etext;
}

static volatile int forks, ended_inside;
static __thread volatile bool may_end;

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  if (!is_in_our_hook(context)) return;
  if (may_end) {
    __atomic_add_fetch(&ended_inside, 1, __ATOMIC_RELAXED);
    pthread_exit(NULL);
  }
  if (forks >= 10) return;
  forks++;
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    undead_record_after_fork_in_child();
    void *block = malloc(10);
    free(block);
    _exit(block == NULL);
  }
  int status = -1;
  while (waitpid(child, &status, 0) < 0) continue;
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// The hook is still on the stack: it is taken off only behind this.
static void clean_up(void *block) {
  free(block);
  check_known();
}

static void *end_inside(void *unused) {
  void *block = malloc(20);
  pthread_setspecific(key, (void *)1);
  pthread_cleanup_push(clean_up, block);
  may_end = true;
  for (;;) free(malloc(30));
  pthread_cleanup_pop(0);
  return unused;
}

int main(void) {
  pthread_key_create(&key, thread_ends);
  atexit(check_recorded);
  pthread_t thread;
  for (int i = 0; i < 20; i++) {
    pthread_create(&thread, NULL, end_slowly, NULL);
    pthread_join(thread, NULL);
  }
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval timer = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &timer, NULL);
  while (forks < 10) free(malloc(40));
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  for (int i = 0; i < 50; i++) {
    pthread_create(&thread, NULL, end_inside, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);   // it comes to the thread
    pthread_join(thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  }
  CHECK(ended_inside == 50);
  const struct itimerval none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &none, NULL);
  check_recorded();
  return failures != 0;
}
