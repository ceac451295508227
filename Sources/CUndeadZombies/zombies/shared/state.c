#include "zombies/shared/state.h"
#include "platform/memory/own_data.h"

#define DEFAULT_BYTES (64ull << 20)
#define DEFAULT_COUNT 1000000ull
#define DEFAULT_PAGES 256u

undead_zombie_state undead_zombies;
undead_zombie_tally undead_zombie_counts;

void undead_zombie_default_options(undead_zombie_options *options) {
  *options = (undead_zombie_options){
      .budget = {.bytes = DEFAULT_BYTES, .count = DEFAULT_COUNT},
      .policy = UNDEAD_ZOMBIE_TRAP,
      .repeats = 1,
  };
}

void undead_zombie_sampled_options(undead_zombie_options *options, uint32_t sample) {
  undead_zombie_default_options(options);
  options->sample = sample ? sample : 1;
  options->budget.count = DEFAULT_PAGES;
  options->policy = UNDEAD_ZOMBIE_REPORT;
}
