#include "scan/blocks/isas.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include "platform/memory/spread.h"
#include "record/registry.h"
#include "record/sparse.h"
#include "runtime/layout.h"
#include "runtime/premises.h"
#include "scan/blocks/words.h"

// A hash table is touched all over, so it begins small: most programs have some thousand types.
#define FIRST_TABLE_SLOTS 8192u
#define RECENT_SLOTS 8192u
#define BLOCKS_AHEAD 16u   // a power of two: blocks that were asked for, and are looked at later

bool undead_isas_open(undead_isas *isas) {
  *isas = (undead_isas){.table_size = FIRST_TABLE_SLOTS};
  isas->list = undead_map(UNDEAD_MAX_ISAS * sizeof *isas->list);
  isas->table = undead_map(isas->table_size * sizeof *isas->table);
  isas->recent = undead_map(RECENT_SLOTS * sizeof *isas->recent);
  isas->variants = undead_map(sizeof *isas->variants);
  if (isas->list && isas->table && isas->recent && isas->variants) return true;
  undead_isas_close(isas);
  return false;
}

void undead_isas_close(undead_isas *isas) {
  if (isas->list) undead_unmap(isas->list, UNDEAD_MAX_ISAS * sizeof *isas->list);
  if (isas->table) undead_unmap(isas->table, isas->table_size * sizeof *isas->table);
  if (isas->recent) undead_unmap(isas->recent, RECENT_SLOTS * sizeof *isas->recent);
  if (isas->variants) undead_unmap(isas->variants, sizeof *isas->variants);
  *isas = (undead_isas){0};
}

static uint64_t hash(uintptr_t word) { return undead_spread(word >> 3) >> 32; }

// The slot of `word`, or the free one where it belongs.
static uintptr_t *slot_of_isa(uintptr_t *table, uint32_t size, uintptr_t word) {
  uint64_t slot = hash(word) & (size - 1);
  while (table[slot] && table[slot] != word) slot = (slot + 1) & (size - 1);
  return &table[slot];
}

static bool grow(undead_isas *isas) {
  uint32_t size = isas->table_size * 2;
  uintptr_t *larger = undead_map(size * sizeof *larger);
  if (!larger) return false;
  for (uint32_t i = 0; i < isas->count; i++) *slot_of_isa(larger, size, isas->list[i]) = isas->list[i];
  undead_unmap(isas->table, isas->table_size * sizeof *isas->table);
  isas->table = larger;
  isas->table_size = size;
  return true;
}

// Literally, so that no number of the instrument's has a part in it: a new object's counts, or those of one that is retained. Memory
// that has none is no object: the runtime's lists begin with metadata that is still being made.
static bool has_counts(uintptr_t block) { return *(const uint32_t *)(block + 8) == 3; }

// Again literally: a function of the program before the first word of metadata, something of the program beside it.
static bool looks_like_object(uintptr_t word) {
  return undead_is_executable(*(const uintptr_t *)(word - 16)) && undead_module_of(*(const uintptr_t *)(word - 8));
}

// Metadata of closures and boxes has no witnesses, but a kind that only objects have (MetadataKind.def: up to 0x7FF), again
// literally.
static bool looks_like_context(uintptr_t word) {
  uintptr_t kind = *(const uintptr_t *)word;
  return kind >= 0x400 && kind <= 0x7FF && !*(const uintptr_t *)(word - 8) && undead_is_executable(*(const uintptr_t *)(word - 16));
}

// Metadata of structs, enums and other values (the same list: from 0x200 to 0x3FF), again literally. A struct that is one reference has
// the witnesses of objects, and memory of the program, or a cache of the runtime, may begin with it: `Task` is one.
static bool is_of_value(uintptr_t word) { return *(const uintptr_t *)word >= 0x200 && *(const uintptr_t *)word < 0x400; }

static void note_unknown(undead_isas *isas, uintptr_t word, uintptr_t block) {
  if (!undead_is_readable(word - 16, 24) || !has_counts(block)) return;
  bool known = isas->witnesses && *(const uintptr_t *)(word - 8) == isas->witnesses && !is_of_value(word);
  if (known || looks_like_context(word)) isas->strangers++;
  if (looks_like_object(word)) isas->alike++;
}

// The slot of an isa that does not say all, or the free one where it belongs.
static uint32_t deciding_slot(const undead_isas *isas, uintptr_t isa) {
  uint32_t slot = (uint32_t)hash(isa) & (UNDEAD_DECIDING_SLOTS - 1);
  while (isas->variants->deciding[slot].isa && isas->variants->deciding[slot].isa != isa)
    slot = (slot + 1) & (UNDEAD_DECIDING_SLOTS - 1);
  return slot;
}

static void note_deciding(undead_isas *isas, uintptr_t isa, undead_kind kind) {
  undead_deciding_words words = undead_deciding_words_of(isa, kind);
  if (!words.count || isas->variants->deciding_count == UNDEAD_DECIDING_SLOTS / 2) return;
  uint32_t slot = deciding_slot(isas, isa);
  isas->variants->deciding[slot].isa = isa;
  isas->variants->deciding[slot].words = words;
  isas->variants->deciding_count++;
}

// Whether the next object with this isa has to be looked at, too.
static bool add_variant(undead_isas *isas, uintptr_t isa, uintptr_t block) {
  struct undead_isas_variants *variants = isas->variants;
  if (!variants->deciding_count) return false;
  uint32_t slot = deciding_slot(isas, isa);
  undead_deciding_words words = variants->deciding[slot].words;
  if (!variants->deciding[slot].isa || variants->count == UNDEAD_MOST_VARIANTS) return false;
  if (isas->high - block < words.offset + words.count * 8ul) return true;
  undead_variant variant = {.isa = isa, .count = words.count};
  for (uint32_t i = 0; i < words.count; i++) variant.words[i] = ((const volatile uintptr_t *)(block + words.offset))[i];
  uintptr_t key = undead_variant_key(isa, variant.words, words.count);
  uintptr_t *known = slot_of_isa(variants->keys, 2 * UNDEAD_MOST_VARIANTS, key);
  if (*known) return true;
  *known = key;
  variants->list[variants->count++] = variant;
  return true;
}

static void add_isa(undead_isas *isas, uintptr_t word, uintptr_t block) {
  if (*slot_of_isa(isas->table, isas->table_size, word)) return;
  if (isas->count == UNDEAD_MAX_ISAS) return;
  undead_kind kind = undead_classify(word, UINT64_MAX);
  if (kind == UNDEAD_KIND_OTHER) {
    note_unknown(isas, word, block);
    return;
  }
  if (kind == UNDEAD_KIND_CONTEXT && !undead_premise_of_context(word)) isas->odd++;
  if (isas->count == isas->table_size / 2 && !grow(isas)) return;
  *slot_of_isa(isas->table, isas->table_size, word) = word;
  isas->list[isas->count++] = word;
  note_deciding(isas, word, kind);
}

// What lies next to the block that was looked at last is mostly in the same mapping.
static inline bool is_readable(undead_isas *isas, uintptr_t block) {
  if (block - isas->low < isas->high - isas->low && isas->high - block >= sizeof(uintptr_t)) return true;
  const undead_mapping *mapping = undead_mapping_of(block);
  isas->low = mapping && mapping->readable ? mapping->low : 0;
  isas->high = isas->low ? mapping->high : 0;
  return undead_is_readable(block, sizeof(uintptr_t));
}

static inline void look_at(undead_isas *isas, uintptr_t block) {
  if (!is_readable(isas, block)) return;
  uintptr_t word = *(const volatile uintptr_t *)block;
  if (word == isas->last) return;
  uintptr_t *recent = &isas->recent[hash(word) & (RECENT_SLOTS - 1)];
  isas->last = word;
  if (*recent == word || word & 7 || word < 4096 || word >> UNDEAD_ADDRESS_BITS) return;
  *recent = word;
  // Lists and trees of C begin with the address of another block; no metadata lies at the start of one.
  if (!undead_registry_knows(word)) add_isa(isas, word, block);
  if (add_variant(isas, word, block)) *recent = isas->last = 0;
}

static bool visit_isa(void *isas, uintptr_t block, uint32_t *registered) {
  (void)registered;
  look_at(isas, block);
  return true;
}

// The first words of blocks are seldom in the cache.
typedef struct {
  undead_isas *isas;
  uintptr_t blocks[BLOCKS_AHEAD];   // 0: none
  uint32_t next;
} later_blocks;

static inline void look_later(later_blocks *later, uintptr_t block) {
  uintptr_t *place = &later->blocks[later->next++ % BLOCKS_AHEAD];
  __builtin_prefetch((const void *)block);
  if (*place) look_at(later->isas, *place);
  *place = block;
}

static void look_at_rest(later_blocks *later) {
  for (uint32_t i = 0; i < BLOCKS_AHEAD; i++) look_later(later, 0);
}

static void look_at_leaf(void *context, undead_leaf *leaf, uintptr_t base) {
  later_blocks later = {.isas = context};
  const uint64_t granules = 1ull << UNDEAD_TOUCH_SHIFT;
  for (uint64_t group = 0; group < sizeof leaf->touched; group++) {
    if (!leaf->touched[group]) continue;
    for (uint64_t first = group * granules; first < (group + 1) * granules; first += UNDEAD_WORDS_AT_ONCE)
      for (uint32_t used = undead_used_words(&leaf->word[first]); used; used &= used - 1)
        look_later(&later, base + ((first + (uint64_t)__builtin_ctz(used)) << 4));
  }
  look_at_rest(&later);
  if (undead_sparse_used && !undead_sparse_expanded) undead_sparse_visit(leaf, base, visit_isa, context);
}

void undead_isas_collect(undead_isas *isas) {
  isas->low = isas->high = 0;
  isas->strangers = isas->alike = isas->odd = 0;
  if (undead_maps_refresh()) undead_registry_each_leaf(look_at_leaf, isas);
}
