// Measures what samples cost of the processors' time, and makes the sample thinner or denser. All under the lock of samples.
#include "record/samples/samples.h"
#include "platform/memory/own_data.h"
#include "unwind/rules/images.h"
#include <time.h>

#define MOST_SHARE 100u              // one part of so many may go into samples
#define LOW_SHARE (4 * MOST_SHARE)   // below, the sample becomes denser again
#define PERIOD 100000000u            // nanoseconds between two looks, on the wall
#define LEAST_USED 20000000u         // and of the processors
#define LONGEST 50000u               // what takes longer had no processor

uint32_t undead_sample_mean, undead_sample_least, undead_sample_most;
bool undead_governor_is_held;
static uint32_t mean_at_start;
static uint64_t spent, spent_before, looked_at, used_before;

static uint64_t clock_now(clockid_t clock) {
  struct timespec now = {0};
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Its frame has gone when a sample is taken, which may be at the end of a small stack.
__attribute__((noinline)) uint64_t undead_governor_now(void) { return clock_now(CLOCK_MONOTONIC); }
uint64_t undead_governor_spent(void) { return spent; }

static void set_mean(uint32_t mean) {
  __atomic_store_n(&undead_sample_mean, mean, __ATOMIC_RELAXED);
  if (mean < undead_sample_least) undead_sample_least = mean;
  if (mean > undead_sample_most) undead_sample_most = mean;
}

void undead_governor_begin(uint32_t mean) {
  mean_at_start = undead_sample_least = undead_sample_most = mean;
  set_mean(mean);
}

static uint32_t doubled(uint32_t mean, uint32_t base) {
  return mean >> UNDEAD_SAMPLE_DOUBLINGS >= base || mean >= 1u << 30 ? mean : mean * 2;
}

uint32_t undead_governor_decide(uint32_t mean, uint32_t base, uint64_t took, uint64_t used) {
  if (took * MOST_SHARE > used) return doubled(mean, base);
  while (mean > base && took * LOW_SHARE < used) {
    mean /= 2;
    took *= 2;
  }
  return mean;
}

void undead_governor_note(uint64_t start, uint64_t end) {
  uint64_t took = end - start;
  spent += took < LONGEST ? took : LONGEST;
  if (end - looked_at < PERIOD || undead_governor_is_held) return;
  uint64_t used = clock_now(CLOCK_PROCESS_CPUTIME_ID);
  if (looked_at && used - used_before < LEAST_USED) return;
  undead_table_pages_let_go();
  if (looked_at) set_mean(undead_governor_decide(undead_sample_mean, mean_at_start, spent - spent_before, used - used_before));
  looked_at = end;
  used_before = used;
  spent_before = spent;
}

void undead_governor_thin(void) {
  if (!undead_governor_is_held) set_mean(doubled(undead_sample_mean, mean_at_start));
}
