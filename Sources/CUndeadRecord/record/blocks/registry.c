#include "record/registry.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/sparse.h"

undead_leaf *undead_leaves[UNDEAD_LEAF_COUNT];
uint32_t undead_registry_own_bit;

// One bit a leaf, and one bit a word of those, so that the 16 MiB of `undead_leaves` need not be read to list them.
#define BITMAP_WORDS (UNDEAD_LEAF_COUNT / 64)
static uint64_t leaf_bits[BITMAP_WORDS];
static uint64_t leaf_summary[BITMAP_WORDS / 64];
static uint64_t dropped;

static void note_leaf(uintptr_t index) {
  static uint32_t table_owned;
  if (!__atomic_exchange_n(&table_owned, 1, __ATOMIC_RELAXED)) undead_own_memory(undead_leaves, sizeof undead_leaves);
  __atomic_fetch_or(&leaf_bits[index / 64], 1ull << (index % 64), __ATOMIC_RELEASE);
  __atomic_fetch_or(&leaf_summary[index / 4096], 1ull << (index / 64 % 64), __ATOMIC_RELEASE);
}

undead_leaf *undead_registry_leaf_slow(uintptr_t address) {
  uintptr_t index = address >> UNDEAD_LEAF_SHIFT;
  undead_leaf *fresh = index < UNDEAD_LEAF_COUNT ? undead_map(sizeof(undead_leaf)) : NULL;
  if (!fresh) {
    __atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  undead_leaf *expected = NULL;
  if (__atomic_compare_exchange_n(&undead_leaves[index], &expected, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    note_leaf(index);
  else
    undead_unmap(fresh, sizeof(undead_leaf));
  return undead_registry_leaf(address);
}

uint64_t undead_registry_dropped(void) {
  return __atomic_load_n(&dropped, __ATOMIC_RELAXED);
}

typedef uint64_t __attribute__((may_alias)) word_pair;

static bool visit_group(undead_leaf *leaf, uintptr_t base, uint64_t group, undead_block_visitor visit, void *context) {
  uint64_t first = group << UNDEAD_TOUCH_SHIFT, end = first + (1ull << UNDEAD_TOUCH_SHIFT);
  for (uint64_t pair = first; pair < end; pair += 2) {
    // Most of them are 0.
    if (!*(const volatile word_pair *)&leaf->word[pair]) continue;
    for (uint64_t granule = pair; granule < pair + 2; granule++)
      if (__atomic_load_n(&leaf->word[granule], __ATOMIC_RELAXED) && !visit(context, base + (granule << 4), &leaf->word[granule]))
        return false;
  }
  return true;
}

// Eight groups at a time, since most of them were never touched. The array is at a multiple of 8 in its leaf.
#define GROUPS_AT_ONCE 8u
typedef uint64_t __attribute__((may_alias)) group_bytes;

static group_bytes *groups_at(undead_leaf *leaf, uint64_t group) { return (group_bytes *)&leaf->touched[group]; }

typedef struct {
  undead_block_visitor visit;
  void *context;
  undead_leaf_visitor visit_leaf;
} walk;

static bool visit_leaf(uintptr_t index, const walk *walk) {
  undead_leaf *leaf = __atomic_load_n(&undead_leaves[index], __ATOMIC_ACQUIRE);
  uintptr_t base = index << UNDEAD_LEAF_SHIFT;
  for (uint64_t first = 0; first < sizeof leaf->touched; first += GROUPS_AT_ONCE) {
    if (!*groups_at(leaf, first)) continue;
    for (uint64_t group = first; group < first + GROUPS_AT_ONCE; group++)
      if (leaf->touched[group] && !visit_group(leaf, base, group, walk->visit, walk->context)) return false;
  }
  return true;
}

static bool visit_sparse_leaf(uintptr_t index, const walk *walk) {
  const undead_leaf *leaf = __atomic_load_n(&undead_leaves[index], __ATOMIC_ACQUIRE);
  return undead_sparse_visit(leaf, index << UNDEAD_LEAF_SHIFT, walk->visit, walk->context);
}

static void each_leaf(bool (*visit)(uintptr_t index, const walk *walk), const walk *walk) {
  for (uintptr_t part = 0; part < BITMAP_WORDS / 64; part++)
    for (uint64_t words = __atomic_load_n(&leaf_summary[part], __ATOMIC_ACQUIRE); words; words &= words - 1) {
      uintptr_t word = part * 64 + (uintptr_t)__builtin_ctzll(words);
      for (uint64_t bits = __atomic_load_n(&leaf_bits[word], __ATOMIC_ACQUIRE); bits; bits &= bits - 1)
        if (!visit(word * 64 + (uintptr_t)__builtin_ctzll(bits), walk)) return;
    }
}

void undead_registry_each(undead_block_visitor visit, void *context) {
  each_leaf(visit_leaf, &(walk){.visit = visit, .context = context});
  if (undead_sparse_used && !undead_sparse_expanded) each_leaf(visit_sparse_leaf, &(walk){.visit = visit, .context = context});
}

void undead_registry_see(uintptr_t block) {
  undead_leaf *leaf = undead_registry_leaf(block);
  if (!leaf && !(leaf = undead_registry_leaf_slow(block))) return;
  uint64_t granule = block >> 4 & (UNDEAD_LEAF_GRANULES - 1);
  uint32_t known = leaf->word[granule];
  undead_registry_touch(leaf, block);
  leaf->word[granule] = (known ? known : UNDEAD_BACKTRACE_NONE) | UNDEAD_WORD_MARK;
}

static bool keep_if_seen(void *unused, uintptr_t block, uint32_t *word) {
  (void)unused, (void)block;
  *word = *word & UNDEAD_WORD_MARK ? *word & ~UNDEAD_WORD_MARK : 0;
  return true;
}

void undead_registry_keep_seen(void) { undead_registry_each(keep_if_seen, NULL); }

static bool clear_leaf(uintptr_t index, const walk *unused) {
  (void)unused;
  undead_clear_memory(__atomic_load_n(&undead_leaves[index], __ATOMIC_ACQUIRE), sizeof(undead_leaf));
  return true;
}

void undead_registry_clear(void) {
  undead_registry_age();   // which would otherwise lead through what is no list any more
  each_leaf(clear_leaf, NULL);
}

static bool visit_whole_leaf(uintptr_t index, const walk *walk) {
  undead_leaf *leaf = __atomic_load_n(&undead_leaves[index], __ATOMIC_ACQUIRE);
  walk->visit_leaf(walk->context, leaf, index << UNDEAD_LEAF_SHIFT);
  return true;
}

void undead_registry_each_leaf(undead_leaf_visitor visit, void *context) {
  each_leaf(visit_whole_leaf, &(walk){.visit_leaf = visit, .context = context});
}

bool undead_registry_knows(uintptr_t address) {
  const undead_leaf *leaf = undead_registry_leaf(address);
  if (!leaf || address & 15) return false;
  return leaf->word[(address >> 4) & (UNDEAD_LEAF_GRANULES - 1)] != 0 || undead_sparse_holds(leaf, address);
}

static bool inherit(void *unused, uintptr_t block, uint32_t *word) {
  (void)unused, (void)block;
  *word &= ~UNDEAD_WORD_OWN;
  return true;
}

static bool inherit_sparse_leaf(uintptr_t index, const walk *unused) {
  (void)unused;
  undead_sparse_inherit(undead_leaves[index]);
  return true;
}

void undead_registry_inherit(void) {
  if (undead_registry_own_bit) {
    undead_registry_each(inherit, NULL);
    if (undead_sparse_used) each_leaf(inherit_sparse_leaf, NULL);
  }
  undead_sparse_new |= UNDEAD_SPARSE_OWN;
  undead_registry_own_bit = UNDEAD_WORD_OWN;
}
