#include "record/sample.h"
#include "platform/system/environment.h"
#include "platform/system/read_text.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "record/generations.h"
#include "record/samples/samples.h"
#include "record/way/sample_math.h"
#include "record/samples/sample_stacks.h"
#include "record/sample_table.h"
#include "unwind/backtrace.h"
#include "unwind/pc_table.h"
#include "unwind/store/store.h"
#include <assert.h>
#include <limits.h>
#include <string.h>

#define SAMPLES_OF_BUDGET 8u   // an eighth of it

static uint32_t base_mean;
static uint64_t store_bytes = UNDEAD_STORE_DEFAULT;
static uint64_t taken, dropped;

uint64_t undead_sample_parse(const char *text) {
  uint64_t bytes;
  return undead_read_bytes(text, &bytes) && bytes <= 1ull << 40 ? bytes : 0;
}

void undead_sample_set(uint64_t mean, uint64_t bytes) {
  if (mean > UNDEAD_SAMPLE_LARGEST) mean = UNDEAD_SAMPLE_LARGEST;
  base_mean = (uint32_t)((mean + UNDEAD_SAMPLE_UNIT - 1) & ~(uint64_t)(UNDEAD_SAMPLE_UNIT - 1));
  if (bytes) store_bytes = bytes > UNDEAD_STORE_LEAST ? bytes : UNDEAD_STORE_LEAST;
  undead_sample_lock_prepare();
  undead_stacks_set_budget(store_bytes);
  undead_governor_begin(base_mean);
}

bool undead_sample_wanted(void) { return base_mean != 0; }

void undead_sample_read_settings(void) {
  if (undead_sample_wanted()) return;
  if (undead_record_stacks_wanted() != UNDEAD_STACKS_SAMPLED) return;
  const char *text = undead_setting("UNDEAD_SAMPLE");
  uint64_t mean = text ? undead_sample_parse(text) : UNDEAD_SAMPLE_DEFAULT;
  if (mean) undead_sample_set(mean, undead_sample_parse(undead_setting("UNDEAD_STORE_BYTES")));
}

static void draw(undead_thread_state *thread) {
  thread->sample_mean = __atomic_load_n(&undead_sample_mean, __ATOMIC_RELAXED);
  thread->sample_left = (int64_t)(undead_exponential(undead_random_next(&thread->sample_seed)) * thread->sample_mean);
}

// The first gap of a thread; what it has allocated is off it already.
static void begin_thread(undead_thread_state *thread) {
  thread->sample_seed = undead_random_seed(thread);
  int64_t allocated = thread->sample_left;
  draw(thread);
  thread->sample_left += allocated;
}

typedef struct {
  uintptr_t block;
  size_t size;
  uint32_t mean;
  uint64_t start;
  bool stored;
} taking;

static void count_at(undead_sample_stack *stack, size_t size, uint32_t mean) {
  double weight = 1 / undead_chance((double)size / mean);
  stack->samples++;
  stack->sampled_bytes += size;
  stack->objects += weight;
  stack->bytes += weight * (double)size;
}

// Under the lock.
static void forget_sample(uintptr_t block) {
  undead_sample removed;
  if (!undead_samples_remove(block, &removed)) return;
  undead_sample_stack *stack = undead_stacks_at(removed.stack);
  if (stack->live > 0) stack->live--;
}

static bool store(const taking *self, const uint32_t *indices, uint32_t count) {
  uint32_t most = (uint32_t)(store_bytes / SAMPLES_OF_BUDGET / sizeof(undead_sample));
  forget_sample(self->block);   // of a block whose end was missed
  undead_sample sample = {.block = self->block, .mean = self->mean, .generation = undead_generation_newest()};
  sample.stack = undead_stacks_add(indices, count);
  if (sample.stack == UNDEAD_NO_STACK) return false;
  undead_sample_stack *stack = undead_stacks_at(sample.stack);
  if (!undead_samples_add(&sample, most)) return false;
  stack->live++;
  count_at(stack, self->size, self->mean);
  taken++;
  return true;
}

static void store_walked(void *context, const uint32_t *indices, uint32_t count) {
  taking *self = context;
  undead_sample_lock lock;
  if (!undead_sample_lock_take(&lock)) return;
  self->stored = store(self, indices, count);
  if (!self->stored) undead_governor_thin();
  undead_governor_note(self->start, undead_governor_now());
  undead_sample_lock_release(&lock);
}

bool undead_sample_take(uintptr_t block, size_t size, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_thread_state *thread = &undead_thread;
  if (!thread->sample_seed) {
    begin_thread(thread);
    if (thread->sample_left >= 0) return false;
  }
  taking self = {block, size, thread->sample_mean, undead_governor_now(), false};
  draw(thread);
  undead_backtrace_walk(pc, sp, bp, store_walked, &self);
  if (!self.stored) __atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
  return self.stored;
}

void undead_sample_drop(uintptr_t block) {
  undead_sample_lock lock;
  if (!undead_sample_lock_take(&lock)) return;
  forget_sample(block);
  undead_sample_lock_release(&lock);
}

void undead_sample_forget_all(void) {
  undead_sample_lock_inherited();
  undead_sample_forget_tables();
}

// A copy of the random numbers would sample the same blocks in each child: the next one that is asked about draws anew.
void undead_sample_after_fork_in_child(void) {
  undead_thread.sample_seed = 0;
  undead_thread.sample_left = 0;
  if (undead_sample_lock_inherited()) undead_sample_forget_all();
}

// Backtraces of earlier scans take up room.
static void begin_store(void) {
  if ((uint64_t)undead_store_count() * sizeof(uint32_t) < store_bytes) return;
  undead_store_clear();
  undead_stacks_forget_ids();
  if (undead_generation_newest()) undead_store_begin_generation(undead_generation_newest());
}

void undead_sample_prepare(void) {
  if (undead_record_mode != UNDEAD_RECORD_SAMPLED || !undead_store_prepare()) return;
  begin_store();
  for (undead_sample *sample = undead_samples_next(NULL); sample; sample = undead_samples_next(sample)) {
    undead_sample_stack *stack = undead_stacks_at(sample->stack);
    if (!stack->id || stack->id_mean != sample->mean || stack->id_generation != sample->generation) {
      const uint32_t *frames = undead_stacks_frames(stack);
      stack->id = undead_store_add_sampled(frames, stack->count, sample->generation, sample->mean);
      stack->id_mean = sample->mean;
      stack->id_generation = sample->generation;
    }
    sample->id = stack->id;
  }
}

uint32_t undead_sample_mean_of(uint32_t backtrace) { return undead_store_sample_mean(backtrace); }

static uint32_t frames_of(const undead_sample_stack *stack, uintptr_t *frames, uint32_t max) {
  const uint32_t *indices = undead_stacks_frames(stack);
  uint32_t count = stack->count < max ? stack->count : max;
  for (uint32_t i = 0; i < count; i++) frames[i] = undead_pcs[indices[i]].pc;
  return count;
}

uint32_t undead_sample_frames(uintptr_t block, uintptr_t *frames, uint32_t max) {
  undead_sample_lock lock;
  if (!undead_sample_lock_take(&lock)) return 0;
  const undead_sample *sample = undead_samples_find(block);
  uint32_t count = sample ? frames_of(undead_stacks_at(sample->stack), frames, max) : 0;
  undead_sample_lock_release(&lock);
  return count;
}

bool undead_sample_allocations_at(uint32_t number, undead_sample_allocations *allocations, uint32_t *end) {
  undead_sample_lock lock;
  if (!undead_sample_lock_take(&lock)) return *end = 0, false;
  // The first is of what was thrown away.
  *end = undead_stacks_end() + 1;
  const undead_sample_stack *stack = NULL;
  if (number == 0) stack = undead_stacks_thrown_away();
  else if (number < *end && undead_stacks_at(number - 1)->hash) stack = undead_stacks_at(number - 1);
  if (stack) {
    allocations->samples = stack->samples;
    allocations->sampled_bytes = stack->sampled_bytes;
    allocations->objects = stack->objects;
    allocations->bytes = stack->bytes;
    allocations->count = number ? frames_of(stack, allocations->frames, UNDEAD_DEPTH_LIMIT) : 0;
  }
  undead_sample_lock_release(&lock);
  return stack && stack->samples;
}

undead_sample_statistics undead_sample_read(void) {
  return (undead_sample_statistics){
    .mean = undead_sample_mean, .least = undead_sample_least, .most = undead_sample_most,
    .samples = taken, .live = undead_samples_count(), .dropped = __atomic_load_n(&dropped, __ATOMIC_RELAXED),
    .dropped_stacks = undead_stacks_thrown_away()->count, .nanoseconds = undead_governor_spent(),
    .store_bytes = undead_samples_bytes() + undead_stacks_bytes(),
  };
}
