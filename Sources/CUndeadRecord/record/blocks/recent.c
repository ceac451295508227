// The groups of granules where blocks were allocated lately: a list, as they are few of those that there are.
#include "platform/memory/own_data.h"
#include "record/registry.h"

// Groups are named by their number in the address space, above the ends.
enum { NOT_LISTED, LAST_OF_LIST, FIRST_NUMBER };
#define GROUP_SHIFT (UNDEAD_TOUCH_SHIFT + 4)   // of an address
#define GROUPS_OF_LEAF (UNDEAD_LEAF_GRANULES >> UNDEAD_TOUCH_SHIFT)

static uint64_t newest_block = LAST_OF_LIST;

static undead_leaf *leaf_of(uint64_t number) { return undead_registry_leaf((number - FIRST_NUMBER) << GROUP_SHIFT); }
static uint64_t group_of(uint64_t number) { return (number - FIRST_NUMBER) % GROUPS_OF_LEAF; }

void undead_registry_touch(undead_leaf *leaf, uintptr_t address) {
  uint64_t number = (address >> GROUP_SHIFT) + FIRST_NUMBER, group = group_of(number), none = NOT_LISTED;
  __atomic_store_n(&leaf->touched[group], UNDEAD_TOUCHED_LATELY, __ATOMIC_SEQ_CST);
  // The first thread puts it there.
  uint64_t *link = &leaf->lately[group];
  if (!__atomic_compare_exchange_n(link, &none, LAST_OF_LIST, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  uint64_t next = __atomic_load_n(&newest_block, __ATOMIC_RELAXED);
  do __atomic_store_n(link, next, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&newest_block, &next, number, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

void undead_registry_age(void) {
  uint64_t number = __atomic_exchange_n(&newest_block, LAST_OF_LIST, __ATOMIC_SEQ_CST);
  while (number != LAST_OF_LIST) {
    undead_leaf *leaf = leaf_of(number);
    uint64_t group = group_of(number);
    // In this order: a thread that finds the group touched long ago must find that it is in no list.
    number = __atomic_exchange_n(&leaf->lately[group], NOT_LISTED, __ATOMIC_SEQ_CST);
    if (leaf->touched[group]) __atomic_store_n(&leaf->touched[group], UNDEAD_TOUCHED_LONG_AGO, __ATOMIC_SEQ_CST);
  }
}

// Most of the blocks there are older ones.
typedef uint32_t __attribute__((vector_size(16), may_alias)) four_words;
typedef uint64_t __attribute__((vector_size(16))) two_words;
#define WORDS_AT_ONCE 32u
#define ALL_OLDER 0x8000000080000000u

static bool has_recent(const uint32_t *words, uint32_t first_id) {
  const volatile four_words *four = (const volatile four_words *)words;
  const four_words backtrace = {UNDEAD_WORD_BACKTRACE, UNDEAD_WORD_BACKTRACE, UNDEAD_WORD_BACKTRACE, UNDEAD_WORD_BACKTRACE};
  // No id has the highest bit: a lower one than `first_id` sets it.
  const four_words first = {first_id, first_id, first_id, first_id};
  four_words older = (four[0] & backtrace) - first;
  for (uint32_t i = 1; i < WORDS_AT_ONCE / 4; i++) older &= (four[i] & backtrace) - first;
  two_words halves = (two_words)older;
  return (halves[0] & halves[1] & ALL_OLDER) != ALL_OLDER;
}

static bool visit_recent_group(undead_leaf *leaf, uint64_t number, uint32_t first_id, undead_block_visitor visit, void *context) {
  uintptr_t base = (number - FIRST_NUMBER) << GROUP_SHIFT;
  uint32_t *words = &leaf->word[group_of(number) << UNDEAD_TOUCH_SHIFT];
  for (uint64_t first = 0; first < 1u << UNDEAD_TOUCH_SHIFT; first += WORDS_AT_ONCE) {
    if (!has_recent(&words[first], first_id)) continue;
    for (uint64_t granule = first; granule < first + WORDS_AT_ONCE; granule++) {
      uint32_t word = __atomic_load_n(&words[granule], __ATOMIC_RELAXED);
      if (word && (word & UNDEAD_WORD_BACKTRACE) >= first_id && !visit(context, base + (granule << 4), &words[granule]))
        return false;
    }
  }
  return true;
}

void undead_registry_each_recent(uint32_t first_id, undead_block_visitor visit, void *context) {
  uint64_t number = __atomic_load_n(&newest_block, __ATOMIC_SEQ_CST);
  while (number > LAST_OF_LIST) {
    undead_leaf *leaf = leaf_of(number);
    if (!visit_recent_group(leaf, number, first_id, visit, context)) return;
    number = __atomic_load_n(&leaf->lately[group_of(number)], __ATOMIC_ACQUIRE);
  }
}
