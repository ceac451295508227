#include "record/block_source.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "record/way/sample_math.h"
#include "record/way.h"

void undead_block_source_set(undead_block_source_function source) {
  __atomic_store_n(&undead_block_source, source, __ATOMIC_SEQ_CST);
  undead_way_choose();
}

void undead_block_choice_set(bool on) {
  __atomic_store_n(&undead_blocks_are_chosen, on, __ATOMIC_SEQ_CST);
  undead_way_choose();
}

// -1 / ln(1 - 1 / n) for n > 1, by Gregory's series: the first term left out is below a thousandth.
static double mean_gap(uint32_t n) {
  double p = 1.0 / n;
  return n - 1.0 / 2 - p * (1.0 / 12 + p * (1.0 / 24 + p * (19.0 / 720 + p * (3.0 / 160))));
}

// Geometric: how often a coin with the chance 1 / `one_in` falls on the other side, from an exponential distance.
int64_t undead_block_choice_draw(uint32_t one_in) {
  undead_thread_state *thread = &undead_thread;
  if (!thread->choice_seed) thread->choice_seed = undead_random_seed(thread);
  if (one_in <= 1) return 0;
  return (int64_t)(undead_exponential(undead_random_next(&thread->choice_seed)) * mean_gap(one_in));
}
