#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#if defined(__x86_64__)
#include "unwind/partial_x86_64.h"

// Functions of the program that a partial backtrace tells: an initializer or a specialized function of the standard
// library may come before the one that a reader looks for.
#define OWN_FRAMES 3u
#define LEAST_FRAMES 2u   // outside of the site, as all code may be the program's (-static-stdlib)
#define MOST_FRAMES 12u   // to go further costs as much as a whole backtrace
#define WALKED_FIRST 64u      // of a site, in each thread, before any of its backtraces is partial
#define CAPTURES_A_WALK 32u   // later, on average

static undead_partial_site *partial_site_of(undead_unwind_cache *cache, uint32_t run) {
  return &cache->partial[run * 0x9E3779B1u >> 16 & (UNDEAD_PARTIAL_SITES - 1)];
}

// Far enough for a reader; 0 if there is something that a walk of the whole stack has to look at.
static uint32_t walk(undead_unwind_cache *cache, uintptr_t stack_high, const undead_known_site *site,
                     undead_frame frame, uint32_t *indices) {
  undead_link link;
  for (uint32_t count = 0, own = site->own_frames; count < MOST_FRAMES;) {
    const undead_known_pc *known = know_pc(cache, frame.pc);
    if (!known || !is_plain(known->rule)) return 0;
    indices[count++] = known->pc_index;
    own += !(known->rule & UNDEAD_RULE_TOOLCHAIN);
    if (own >= OWN_FRAMES && count >= LEAST_FRAMES) return count;
    if (!step(&frame, &link, known->rule, stack_high)) return 0;
  }
  return 0;
}

uint32_t undead_partial_capture(undead_unwind_cache *cache, uintptr_t stack_high, const undead_known_site *site,
                                undead_frame frame) {
  uint32_t indices[MOST_FRAMES], count = walk(cache, stack_high, site, frame, indices), node = UNDEAD_TRIE_PARTIAL;
  undead_known_site *mine = &cache->sites[site - cache->sites];
  if (UNLIKELY(!count)) {
    mine->skip = 0;
    *partial_site_of(cache, site->run) = (undead_partial_site){.run = site->run};
    return 0;
  }
  mine->skip--;
  while (count > 0 && node) node = know_child(cache, node, indices[--count]);
  return node ? know_child(cache, node, site->run | UNDEAD_RUN_BIT) : 0;
}

static uint32_t random_below(undead_unwind_cache *cache, uint32_t end) {
  uint32_t x = cache->random ? cache->random : 0x9E3779B1u;
  x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  cache->random = x;
  return (uint32_t)((uint64_t)x * end >> 32);
}

void undead_partial_walked(undead_unwind_cache *cache, const undead_known_site *site) {
  undead_partial_site *entry = partial_site_of(cache, site->run);
  if (entry->run != site->run) *entry = (undead_partial_site){.run = site->run};
  if (entry->walks < WALKED_FIRST) entry->walks++;
  // A random number, lest blocks that come in turns are always the same ones.
  else cache->sites[site - cache->sites].skip = (uint16_t)(1 + random_below(cache, 2 * CAPTURES_A_WALK));
}
#endif
#endif
