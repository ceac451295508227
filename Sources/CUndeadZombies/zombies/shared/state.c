#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "zombies/shared/state.h"
#include "platform/memory/own_data.h"

#define DEFAULT_BYTES (64ull << 20)
#define DEFAULT_COUNT 1000000ull

undead_zombie_state undead_zombies;
undead_zombie_tally undead_zombie_counts;

void undead_zombie_default_options(undead_zombie_options *options) {
  *options = (undead_zombie_options){
      .budget = {.bytes = DEFAULT_BYTES, .count = DEFAULT_COUNT},
      .policy = UNDEAD_ZOMBIE_TRAP,
      .repeats = 1,
  };
}
#endif
