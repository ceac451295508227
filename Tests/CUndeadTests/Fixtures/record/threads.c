// More threads than anybody has, one after the other and all at once: each is recorded, and gives back what it had.
// Linked with the sources of the instrument.
#define _GNU_SOURCE
#include "check.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include "unwind/capture/capture_x86_64.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEQUENTIAL = 5000, AT_ONCE = 2000, STACK_BYTES = 65536 };

static pthread_barrier_t barrier;

static __attribute__((noinline)) void *allocate(int depth) {
  volatile char frame[24];
  frame[0] = (char)depth;
  void *block = depth > 0 ? allocate(depth - 1) : malloc(100);
  frame[1] = frame[0];
  return block;
}

static void *work(void *waits) {
  for (int depth = 0; depth < 20; depth++) {
    void *block = allocate(depth);
    uintptr_t frames[64];
    uint32_t *slot = undead_registry_slot((uintptr_t)block);
    CHECK(slot && *slot && undead_backtrace_frames(*slot, frames, 64) > (uint32_t)depth);
    free(block);
  }
  // Its own cache, not one that it has to ask for each time.
  CHECK(undead_thread.unwind_cache);
  if (waits) pthread_barrier_wait(&barrier);
  return NULL;
}

static long resident_kib(void) {
  long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
  if (file) fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static pthread_t start(void *waits) {
  static pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_t thread = 0;
  CHECK(pthread_create(&thread, &attributes, work, waits) == 0);
  return thread;
}

int main(void) {
  pthread_join(start(NULL), NULL);
  long before = resident_kib();
  for (int i = 0; i < SEQUENTIAL; i++) pthread_join(start(NULL), NULL);
  long after = resident_kib();
  CHECK(after - before < 2048);

  static pthread_t threads[AT_ONCE];
  pthread_barrier_init(&barrier, NULL, AT_ONCE + 1);
  for (int i = 0; i < AT_ONCE; i++) threads[i] = start(&barrier);
  long most = resident_kib();
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < AT_ONCE; i++) pthread_join(threads[i], NULL);
  long least = resident_kib();
  printf("%ld KiB sequentially, %ld KiB a thread at once, %ld KiB kept\n", after - before, (most - before) / AT_ONCE,
         least - before);
  CHECK((most - before) / AT_ONCE < 160);
  CHECK(least - before < 64L * 200 + 20480);
  CHECK(undead_backtrace_dropped() == 0 && undead_registry_dropped() == 0);
  return failures != 0;
}
