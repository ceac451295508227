// What threads keep of freed blocks is taken and given without a call of glibc, and glibc does not notice: its own functions
// and the hooks may be called in any order. Linked with the sources of the instrument; an argument: the lists are not known.
#define _GNU_SOURCE
#include "check.h"
#include "platform/memory/thread_state.h"
#include "record/mode.h"
#include "record/way/thread_cache.h"
#include <gnu/libc-version.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

static undead_cache_table *table(void) { return undead_cache_of_thread(); }
static size_t bin_of(const void *block) { return (undead_chunk_bytes((uintptr_t)block - 16) - 32) >> 4; }

static bool is_expected(void) {
  int minor = atoi(gnu_get_libc_version() + 2);
  return minor >= 34 && minor <= 41;
}

// Each list is the same for both; the hooks put more into it.
#define MOST 130
static void each_size(void) {
  static void *blocks[MOST];
  for (size_t size = 0; size <= 1100; size += size < 200 ? 1 : 7) {
    size_t bin = undead_cache_list(size);
    if (bin >= CACHE_BINS) break;
    int most = undead_cache.most[bin];
    CHECK(most >= undead_cache.most_of_glibc && most + 2 <= MOST);
    for (int i = 0; i < most + 2; i++)
      while (bin_of(blocks[i] = malloc(size)) != bin) {}   // more than was asked for
    while (table()->counts[bin]) malloc(size);   // glibc had more of that size, and put it there
    for (int i = 0; i < most + 2; i++) {
      if (i & 1 && i < undead_cache.most_of_glibc) __libc_free(blocks[i]);
      else free(blocks[i]);
    }
    CHECK(table()->counts[bin] == most && table()->entries[bin] == (uintptr_t)blocks[most - 1]);
    for (int i = most - 1; i >= 0; i--) {
      void *block = i & 2 ? malloc(size) : __libc_malloc(size);
      CHECK(block == blocks[i]);
      CHECK(((uintptr_t *)block)[1] == 0);
      CHECK(table()->counts[bin] == i);
    }
    CHECK(table()->entries[bin] == 0);
    for (int i = 0; i < most; i++) free(blocks[i]);
  }
  CHECK(undead_cache.most[1] > 80 && undead_cache.most[CACHE_BINS - 1] == undead_cache.most_of_glibc);
}

// A thread's long lists are glibc's again when it ends.
static void *fills_lists(void *unused) {
  void *blocks[80];
  for (int i = 0; i < 80; i++) blocks[i] = malloc(40);
  for (int i = 0; i < 80; i++) free(blocks[i]);
  CHECK(table()->counts[1] == 80);
  return unused;
}

static void endings(void) {
  size_t before = 0;
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, fills_lists, NULL);
    pthread_join(thread, NULL);
    if (i == 0) before = mallinfo2().uordblks;
  }
  CHECK(mallinfo2().uordblks < before + 80 * 48);
}

// Blocks of all threads, freed by others, by both ways.
#define SHARED 4096
static void *shared[SHARED];
static void *at_random(void *seed) {
  uint64_t state = (uintptr_t)seed * 0x9E3779B97F4A7C15u;
  for (int i = 0; i < 200000; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t size = state >> 40 & (state >> 60 ? 127 : 2047);
    unsigned char *block = state >> 20 & 1 ? malloc(size) : __libc_malloc(size);
    memset(block, (int)size, malloc_usable_size(block));
    unsigned char *other = __atomic_exchange_n(&shared[state >> 33 & (SHARED - 1)], block, __ATOMIC_ACQ_REL);
    if (!other) continue;
    size_t usable = malloc_usable_size(other);
    CHECK(other[0] == other[usable - 1]);
    if (state >> 21 & 1) free(other);
    else __libc_free(other);
  }
  return NULL;
}

static void threads(void) {
  pthread_t thread[4];
  for (uintptr_t i = 0; i < 4; i++) pthread_create(&thread[i], NULL, at_random, (void *)(i + 1));
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < SHARED; i++) free(shared[i]);
  for (size_t bin = 0; bin < CACHE_BINS; bin++) {
    uint32_t length = 0;
    for (uintptr_t at = table()->entries[bin]; at; at = undead_glibc_next(at)) length++;
    CHECK(length == table()->counts[bin] && length <= undead_cache.most[bin]);
  }
}

// Mistakes of the program are still glibc's to find.
static void free_twice(void) { void *block = malloc(40); free(block), free(block); }
static void free_inside(void) { free((char *)malloc(40) + 8); }
static void free_garbage(void) { size_t *block = malloc(100); block[1] = 72; free(block + 2); }
static bool ends_in_abort(void (*mistake)(void)) {
  pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    fclose(stderr);
    mistake();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main(int count, char **arguments) {
  (void)arguments;
  free(malloc(1));
  bool known = table() != NULL;
  CHECK(known == (count == 1 && is_expected()));
  CHECK(ends_in_abort(free_twice));
  CHECK(ends_in_abort(free_inside));
  CHECK(ends_in_abort(free_garbage));
  if (known) {
    each_size();
    endings();
    threads();
  }
  return failures != 0;
}
