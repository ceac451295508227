// Blocks and their sampled backtraces: what is known of them, what they cost, and whether the estimates are right. Linked
// with the sources of the instrument, and run with UNDEAD_SAMPLE=4096 and UNDEAD_STORE_BYTES=65536.
#define _GNU_SOURCE
#include "check.h"
#include "record/registry.h"
#include "record/sample.h"
#include "record/samples/samples.h"
#include "record/way/sample_math.h"
#include "record/sparse.h"
#include "unwind/backtrace.h"
#include "unwind/store/store.h"
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEAN 4096

static bool is_known(const void *block) { return undead_registry_knows((uintptr_t)block); }

static void everyBlockIsKnownUntilItIsFreed(void) {
  void *blocks[300];
  for (int i = 0; i < 300; i++) {
    size_t size = (size_t)i * i + 1;
    blocks[i] = i % 3 == 0 ? malloc(size) : i % 3 == 1 ? calloc(1, size) : NULL;
    if (!blocks[i]) CHECK(posix_memalign(&blocks[i], 64, size) == 0);
    CHECK(is_known(blocks[i]) && !is_known((char *)blocks[i] + 16));
  }
  for (int i = 0; i < 300; i++) {
    uintptr_t old = (uintptr_t)blocks[i];
    blocks[i] = realloc(blocks[i], (size_t)(300 - i) * 50 + 1);
    CHECK(is_known(blocks[i]) && ((uintptr_t)blocks[i] == old || !undead_registry_knows(old)));
  }
  CHECK(realloc(blocks[0], SIZE_MAX / 2) == NULL && is_known(blocks[0]));
  for (int i = 0; i < 300; i++) {
    uintptr_t old = (uintptr_t)blocks[i];
    free(blocks[i]);
    CHECK(!undead_registry_knows(old));
  }
}

typedef struct {
  uintptr_t wanted;
  uint32_t word, count;
} search;

static bool look(void *context, uintptr_t block, uint32_t *word) {
  search *self = context;
  self->count++;
  if (block == self->wanted) self->word = *word;
  return true;
}

static search search_for(const void *block) {
  search found = {.wanted = (uintptr_t)block};
  undead_registry_each(look, &found);
  return found;
}

// As a scan does; no other thread runs.
static void aScanGivesWordsToAllBlocks(void) {
  char *large = malloc(50 * MEAN);   // not sampled in one of e^50 runs
  void *small = malloc(100);
  uint32_t before = search_for(large).count;
  undead_sample_prepare();
  undead_sparse_expand();
  search found = search_for(large);
  CHECK(found.count == before && found.word > UNDEAD_BACKTRACE_NONE);
  CHECK(undead_sample_mean_of(found.word) >= MEAN);
  uintptr_t frames[64], sampled[64];
  uint32_t count = undead_backtrace_frames(found.word, frames, 64);
  CHECK(count > 1 && undead_sample_frames((uintptr_t)large, sampled, 64) == count);
  CHECK(memcmp(frames, sampled, count * sizeof *frames) == 0);
  CHECK(search_for(small).word != 0 && undead_sample_mean_of(UNDEAD_BACKTRACE_NONE) == 0);
  undead_sparse_collapse();
  CHECK(*undead_registry_slot((uintptr_t)large) == 0 && is_known(large) && search_for(large).count == before);
  free(large);
  free(small);
}

static __attribute__((noinline)) void allocate_here(size_t size, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    void *block = malloc(size);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
  }
  __asm__ volatile("");
}

static double expected_of(size_t usable) { return 1 - exp(-(double)usable / undead_sample_mean); }

// In all of the process, since the start.
static double estimated_objects(void) {
  static undead_sample_allocations at;
  double sum = 0;
  uint32_t end = 1;
  for (uint32_t number = 0; number < end; number++)
    if (undead_sample_allocations_at(number, &at, &end)) sum += at.objects;
  return sum;
}

// The chance of each size, within five standard deviations: wrong in one of two million runs.
static void blocksAreSampledWithTheRightChance(void) {
  const size_t sizes[] = {1, 40, 500, 3000, 20000, 200000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    uint32_t count = sizes[i] < 1000 ? 200000 : 5000;
    void *block = malloc(sizes[i]);
    double chance = expected_of(malloc_usable_size(block));
    free(block);
    uint64_t before = undead_sample_read().samples;
    double objects = estimated_objects();
    allocate_here(sizes[i], count);
    double found = (double)(undead_sample_read().samples - before), deviation = sqrt(count * chance * (1 - chance));
    CHECK(fabs(found - count * chance) <= 5 * deviation + 1);
    CHECK(fabs(estimated_objects() - objects - count) <= 5 * deviation / chance + 1 / chance);
  }
}

static void *deep(uint32_t way, int depth);

static __attribute__((noinline)) void *left(uint32_t way, int depth) {
  void *block = deep(way, depth);
  __asm__ volatile("" : : "r"(block) : "memory");
  return block;
}

static __attribute__((noinline)) void *right(uint32_t way, int depth) {
  void *block = deep(way, depth);
  __asm__ volatile("nop" : : "r"(block) : "memory");
  return block;
}

static __attribute__((noinline)) void *deep(uint32_t way, int depth) {
  if (depth == 0) return malloc(8 * MEAN);
  return way & 1 ? left(way >> 1, depth - 1) : right(way >> 1, depth - 1);
}

// Two to the 13th backtraces in a store that has room for a few hundred: those of live blocks stay.
static void backtracesNobodyNeedsAreThrownAway(void) {
  void *kept[20];
  for (uint32_t i = 0; i < 20; i++) kept[i] = deep(i, 13);
  double objects = estimated_objects();
  uint64_t dropped = undead_sample_read().dropped;
  for (uint32_t way = 0; way < 8192; way++) free(deep(way, 13));
  undead_sample_statistics read = undead_sample_read();
  CHECK(read.dropped_stacks > 1000 && read.dropped == dropped);
  CHECK(read.store_bytes <= 65536);
  CHECK(fabs(estimated_objects() - objects - 8192) < 50);
  uintptr_t frames[64];
  uint32_t known = 0;
  for (uint32_t i = 0; i < 20; i++) known += undead_sample_frames((uintptr_t)kept[i], frames, 64) > 13;
  CHECK(known >= 18);
  for (uint32_t i = 0; i < 20; i++) free(kept[i]);
}

// Live samples are more than the budget has room for: they are not stored, which is reported, and the sample gets thinner.
static void aFullStoreMakesTheSampleThinner(void) {
  enum { COUNT = 3000 };
  static void *blocks[COUNT];
  uint32_t before = undead_sample_mean;
  for (int i = 0; i < COUNT; i++) blocks[i] = malloc(6 * MEAN);
  CHECK(undead_sample_read().dropped > 0 && undead_sample_mean > before);
  CHECK(undead_sample_read().store_bytes <= 65536);
  for (int i = 0; i < COUNT; i++) free(blocks[i]);
  CHECK(undead_sample_read().live < 100);
}

static void *churn(void *seed) {
  void *ring[64] = {0};
  unsigned x = (unsigned)(uintptr_t)seed;
  for (int i = 0; i < 20000; i++) {
    x = x * 1664525u + 1013904223u;
    free(ring[x >> 26]);
    ring[x >> 26] = malloc(x % 3000);
    if (i % 5000 == 0 && !seed) {
      pid_t child = fork();
      if (child == 0) {
        for (int k = 0; k < 5000; k++) free(malloc(1000));
        _exit(is_known(ring[x >> 26]) ? 0 : 1);
      }
      int status = -1;
      CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
  }
  for (int i = 0; i < 64; i++) free(ring[i]);
  return NULL;
}

static void threadsAndForksSampleAtTheSameTime(void) {
  pthread_t threads[4];
  uint64_t live = undead_sample_read().live;
  for (uintptr_t i = 1; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, churn, (void *)i) == 0);
  churn(NULL);
  for (int i = 1; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(undead_sample_read().live <= live + 20);
}

static void theGovernorKeepsTheShare(void) {
  const uint64_t second = 1000000000;
  CHECK(undead_governor_decide(1024, 1024, second / 50, second) == 2048);        // 2 %
  CHECK(undead_governor_decide(2048, 1024, second / 150, second) == 2048);       // 0.7 %: may stay
  CHECK(undead_governor_decide(4096, 1024, second / 10000, second) == 1024);     // goes back, but not further
  CHECK(undead_governor_decide(4096, 1024, second / 500, second) == 2048);       // 0.2 %, twice that if denser
  CHECK(undead_governor_decide(1024u << UNDEAD_SAMPLE_DOUBLINGS, 1024, second, second) == 1024u << UNDEAD_SAMPLE_DOUBLINGS);
}

static void functionsAreThoseOfTheLibrary(void) {
  for (double x = 1e-9; x < 50; x *= 1.7) CHECK(fabs(undead_chance(x) / -expm1(-x) - 1) < 1e-9);
  CHECK(undead_chance(1000) == 1);
  uint64_t state = 42, larger = 0;
  double sum = 0;
  const int count = 1000000;
  for (int i = 0; i < count; i++) {
    double x = undead_exponential(undead_random_next(&state));
    sum += x;
    larger += x > 1;
  }
  CHECK(fabs(sum / count - 1) < 0.005 && fabs((double)larger / count - exp(-1)) < 0.0025);
  CHECK(fabs(undead_exponential(UINT64_MAX)) < 1e-8 && fabs(undead_exponential(1ull << 63) - 0.6931471805599453) < 1e-8);
}

static void sizesAreRead(void) {
  CHECK(undead_sample_parse("512KiB") == 512 << 10 && undead_sample_parse("1M") == 1 << 20);
  CHECK(undead_sample_parse("4096") == 4096 && undead_sample_parse("2MB") == 2 << 20 && undead_sample_parse("7B") == 7);
  CHECK(!undead_sample_parse("") && !undead_sample_parse(NULL) && !undead_sample_parse("x") && !undead_sample_parse("1x"));
  CHECK(!undead_sample_parse("99999999999999999999") && !undead_sample_parse("99999G"));
}

int main(void) {
  undead_governor_is_held = true;   // these programs do nothing but allocate
  sizesAreRead();
  functionsAreThoseOfTheLibrary();
  theGovernorKeepsTheShare();
  everyBlockIsKnownUntilItIsFreed();
  aScanGivesWordsToAllBlocks();
  blocksAreSampledWithTheRightChance();
  backtracesNobodyNeedsAreThrownAway();
  threadsAndForksSampleAtTheSameTime();
  undead_governor_is_held = false;
  aFullStoreMakesTheSampleThinner();
  return failures != 0;
}
