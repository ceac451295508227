// A program that was not started with the library, and opens it while its threads allocate. It checks what it sees itself,
// and says "right" at the end.
#define _GNU_SOURCE
#include "undead_attach.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 64, ROUNDS = 9, TURNS = 5000, FRAMES = 16 };

static void (*free_in_data)(void *) = free;
static void *(*const malloc_in_constant_data)(size_t) = malloc;
static atomic_int stopped;
static atomic_long turns[THREADS];

static int (*record)(undead_record_request *), (*detach)(undead_record_request *), (*release)(undead_record_request *);
static uint32_t (*backtrace_of)(const void *, uintptr_t *, uint32_t);

static void fail(const char *what, const char *why) {
  printf("wrong: %s %s\n", what, why);
  exit(1);
}

static void *allocate(unsigned kind, size_t size) {
  void *block = NULL;
  switch (kind) {
    case 0: return calloc(1, size);
    case 1: return aligned_alloc(64, size);
    case 2: return posix_memalign(&block, 32, size) ? NULL : block;
    case 3: return malloc_in_constant_data(size);
    case 4: return strndup("some text", size);   // libc's own call of malloc
    default: return malloc(size);
  }
}

static void check(const unsigned char *block, size_t size, unsigned mark) {
  for (size_t at = 0; at < size; at += 7)
    if (block[at] != (unsigned char)(mark + at)) fail("block", "damaged");
}

static void *work(void *seed) {
  unsigned char *blocks[BLOCKS] = {0};
  size_t sizes[BLOCKS] = {0};
  unsigned long number = (unsigned long)seed * 7919 + 1;
  while (!stopped) {
    number = number * 6364136223846793005ul + 1442695040888963407ul;
    unsigned at = number >> 33 & (BLOCKS - 1), kind = number >> 50 & 7;
    size_t size = (number >> 20 & 511) + 16;
    check(blocks[at], sizes[at], at);
    if (blocks[at] && kind == 0) blocks[at] = realloc(blocks[at], size);
    else if (blocks[at]) (kind & 1 ? free_in_data : free)(blocks[at]), blocks[at] = NULL;
    else blocks[at] = allocate(kind, size);
    sizes[at] = blocks[at] ? (kind == 4 ? 10 : size) : 0;
    if (blocks[at] && sizes[at] > size) sizes[at] = size;
    for (size_t byte = 0; byte < sizes[at]; byte++) blocks[at][byte] = (unsigned char)(at + byte);
    turns[(long)seed]++;
  }
  for (int at = 0; at < BLOCKS; at++) free(blocks[at]);
  return NULL;
}

// Until every thread has gone around so often.
static void wait_for(long count) {
  for (int i = 0; i < THREADS; i++)
    for (long start = turns[i]; turns[i] < start + count;) usleep(200);
}

static void *live_shortly(void *unused) {
  for (size_t size = 0; size < 50; size++) free(malloc(size * 10));
  return unused;
}

__attribute__((noinline)) static void *planted(void) {
  void *block = malloc(77);
  __asm__ volatile("" : "+r"(block));
  return block;
}

static int knows(const void *block, const void *function) {
  uintptr_t frames[FRAMES];
  return backtrace_of(block, frames, FRAMES) > 0 && frames[0] - (uintptr_t)function < 256;
}

static void check_backtrace(void) {
  void *block = planted();
  if (!knows(block, (const void *)planted)) fail("backtrace", "missing");
  free(block);
}

// A library that comes while the program is recorded.
static void check_late_image(const char *path) {
  void *late = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!late) fail("library", dlerror());
  void *(*make)(void) = (void *(*)(void))dlsym(late, "late_make");
  void *block = make();
  if (!knows(block, (const void *)make)) fail("late library", "not recorded");
  free(block);
  dlclose(late);
}

static void check_child(void) {
  pid_t child = fork();
  if (child == 0) _exit(knows(planted(), (const void *)planted) ? 1 : 0);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) fail("child", "is recorded");
}

static void check_round(const char *late, uint64_t sample_bytes) {
  undead_record_request request = {.version = UNDEAD_RECORD_REQUEST_VERSION, .bytes = sizeof request,
                                   .sample_bytes = sample_bytes};
  if (record(&request) != UNDEAD_RECORD_DONE) fail("record", request.message);
  uint32_t places = request.places;
  if (record(&request) != UNDEAD_RECORD_ALREADY) fail("second record", "");
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, live_shortly, NULL);
  if (!sample_bytes) {
    check_backtrace();
    check_late_image(late);
    check_child();
  }
  wait_for(TURNS);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  if (detach(&request) != UNDEAD_RECORD_DONE) fail("detach", request.message);
  if (request.places < places) fail("detach", "left pointers to the hooks");
  void *block = planted();
  if (knows(block, (const void *)planted)) fail("block", "recorded after the end");
  free(block);
  // Then it has come out of the hook in which it may have been.
  wait_for(2);
  if (release(&request) != UNDEAD_RECORD_DONE) fail("release", request.message);
}

int main(int count, char **arguments) {
  if (count != 3) fail("arguments", "");
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  void *library = dlopen(arguments[1], RTLD_NOW);
  if (!library) fail("library", dlerror());
  record = (int (*)(undead_record_request *))dlsym(library, "undead_record_attached");
  detach = (int (*)(undead_record_request *))dlsym(library, "undead_record_detach");
  release = (int (*)(undead_record_request *))dlsym(library, "undead_record_release");
  backtrace_of = (uint32_t(*)(const void *, uintptr_t *, uint32_t))dlsym(library, "undead_allocation_backtrace");
  if (!record || !detach || !release || !backtrace_of) fail("library", "has not all functions");
  for (int round = 0; round < ROUNDS; round++) check_round(arguments[2], round % 3 == 2 ? 4096 : 0);
  stopped = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  puts("right");
  return 0;
}
