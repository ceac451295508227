// Many threads that allocate, hand blocks to each other, end, and fork children that go on allocating. Linked with the
// sources of the instrument.
#define _GNU_SOURCE
#include "check.h"
#include "known.h"
#include "record/gate.h"
#include "record/mode.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define SLOTS 4096
static void *shared[SLOTS];

static __attribute__((noinline)) void *allocate(int depth, size_t size) {
  volatile char frame[24];
  frame[0] = (char)depth;
  void *block = depth > 0 ? allocate(depth - 1, size) : malloc(size);
  frame[1] = frame[0];
  return block;
}

// True for a block that is known with a backtrace of at least `depth` calls of `allocate`.
static bool is_known(void *block, int depth) { return is_recorded(block, (uint32_t)depth); }

static void churn(unsigned seed, int rounds) {
  for (int round = 0; round < rounds; round++) {
    seed = seed * 1664525u + 1013904223u;
    int depth = (int)(seed >> 28);
    void *block = allocate(depth, (seed >> 8) % 2000);
    CHECK(is_known(block, depth));
    free(__atomic_exchange_n(&shared[(seed >> 12) % SLOTS], block, __ATOMIC_ACQ_REL));
  }
}

static void *run(void *seed) {
  churn((unsigned)(uintptr_t)seed, 3000);
  return NULL;
}

static void *run_forever(void *stop) {
  for (unsigned seed = 1; !__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE); seed++) churn(seed, 100);
  return NULL;
}

static void wait_for(pid_t child) {
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fork_one(unsigned seed) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    undead_record_after_fork_in_child();
    churn(seed, 500);
    pthread_t thread;
    pthread_create(&thread, NULL, run, (void *)(uintptr_t)seed);
    pthread_join(thread, NULL);
    _exit(failures != 0);
  }
  wait_for(child);
}

static void spawn_one(void) {
  char *arguments[] = {"/bin/true", NULL};
  pid_t child = 0;
  CHECK(posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) == 0);
  wait_for(child);
  child = vfork();
  if (child == 0) {
    execv(arguments[0], arguments);
    _exit(127);
  }
  wait_for(child);
}

static int32_t waiting_thread;
static bool is_through;

static void *pass_the_gate(void *unused) {
  __atomic_store_n(&waiting_thread, gettid(), __ATOMIC_RELEASE);
  free(malloc(100));
  __atomic_store_n(&is_through, true, __ATOMIC_RELEASE);
  return unused;
}

static bool sleeps(int32_t thread) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
  if (file) fclose(file);
  return state == 'S';
}

// Behind a closed gate threads wait, but for the one that closed it and children; then they go on.
static void gate(void) {
  pthread_t thread;
  undead_gate_close(getpid(), gettid());
  free(malloc(100));
  CHECK(pthread_create(&thread, NULL, pass_the_gate, NULL) == 0);
  while (!__atomic_load_n(&waiting_thread, __ATOMIC_ACQUIRE) || !sleeps(waiting_thread))
    if (__atomic_load_n(&is_through, __ATOMIC_ACQUIRE)) break;
  CHECK(!is_through);
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    free(malloc(100));
    _exit(0);
  }
  wait_for(child);
  undead_gate_open();
  pthread_join(thread, NULL);
  CHECK(is_through);
}

int main(void) {
  alarm(120);
  gate();
  for (int wave = 0; wave < 20; wave++) {
    pthread_t threads[32];
    for (uintptr_t index = 0; index < 32; index++)
      pthread_create(&threads[index], NULL, run, (void *)(index * 977 + (uintptr_t)wave));
    for (int index = 0; index < 32; index++) pthread_join(threads[index], NULL);
  }
  pthread_t busy[3];
  int stop = 0;
  for (int index = 0; index < 3; index++) pthread_create(&busy[index], NULL, run_forever, &stop);
  for (unsigned round = 0; round < 30; round++) {
    fork_one(round);
    spawn_one();
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  for (int index = 0; index < 3; index++) pthread_join(busy[index], NULL);
  CHECK(undead_backtrace_dropped() == 0 && undead_registry_dropped() == 0);
  return failures != 0;
}
