#include "scan/census.h"
#include "record/scopes.h"
#include "scan/bodies/body.h"
#include "platform/memory/spread.h"
#include <string.h>

typedef struct {
  undead_census *census;
  undead_bodies *bodies;
} counting;

static undead_census_entry *entry_of(undead_census *census, uintptr_t isa) {
  uint32_t at = (uint32_t)(undead_spread(isa >> 3) >> 40) & (UNDEAD_CENSUS_TYPES - 1);
  for (; census->entries[at].isa; at = (at + 1) & (UNDEAD_CENSUS_TYPES - 1))
    if (census->entries[at].isa == isa) return &census->entries[at];
  if (census->used == UNDEAD_CENSUS_TYPES / 2) return NULL;
  census->used++;
  census->entries[at].isa = isa;
  return &census->entries[at];
}

static uint32_t scope_index(const undead_census *census, uint32_t word) {
  uint32_t scope = census->scope_count ? undead_scope_of_backtrace(word & UNDEAD_WORD_BACKTRACE) : 0, at = 0;
  while (at < census->scope_count && census->scopes[at] != scope) at++;
  return at;
}

// Examples are objects of the last scope, if scopes were asked for; rather such as something reaches.
static void add_sample(undead_census_entry *entry, uintptr_t block, bool reached) {
  if (entry->samples < UNDEAD_CENSUS_SAMPLES) {
    entry->sample[entry->samples++] = block;
  } else if (reached && entry->reached_samples < UNDEAD_CENSUS_SAMPLES) {
    entry->sample[entry->reached_samples] = block;
  } else {
    return;
  }
  entry->reached_samples += reached;
}

static bool count_block(void *context, uintptr_t block, uint32_t *word) {
  const counting *self = context;
  undead_census *census = self->census;
  size_t size = undead_block_size(block);
  undead_kind kind = undead_body_kind(self->bodies, block, size);
  if (kind == UNDEAD_KIND_OTHER || kind == UNDEAD_KIND_SIDE_TABLE) return true;
  if (undead_is_deiniting(self->bodies->heap, block)) return true;
  undead_census_entry *entry = entry_of(census, *(const uintptr_t *)block);
  if (!entry) {
    census->dropped++;
    return true;
  }
  entry->kind = kind;
  entry->objects++;
  entry->bytes += size;
  uint32_t scope = scope_index(census, *word);
  if (scope < census->scope_count) entry->born[scope]++;
  if (!census->scope_count || scope == census->scope_count - 1)
    add_sample(entry, block, *word & UNDEAD_WORD_MARK);
  return true;
}

static bool visit_any(void *context, uintptr_t block, uint32_t *word) {
  (void)word;
  const counting *self = context;
  size_t size = undead_block_size(block);
  undead_kind kind = undead_body_kind(self->bodies, block, size);
  uintptr_t isa = kind == UNDEAD_KIND_OTHER ? UNDEAD_CENSUS_MEMORY
                  : kind == UNDEAD_KIND_SIDE_TABLE ? UNDEAD_CENSUS_SIDE_TABLES : *(const uintptr_t *)block;
  undead_census_entry *entry = entry_of(self->census, isa);
  if (!entry) {
    self->census->dropped++;
    return true;
  }
  entry->kind = kind;
  entry->objects++;
  entry->bytes += size;
  return true;
}

void undead_census_count_all(undead_census *census, undead_bodies *bodies) {
  counting self = {census, bodies};
  undead_heap_each(bodies->heap, visit_any, &self);
}

void undead_census_clear(undead_census *census) {
  if (census->used) memset(census->entries, 0, UNDEAD_CENSUS_TYPES * sizeof *census->entries);
  census->used = 0;
  census->dropped = 0;
}

void undead_census_count(undead_census *census, undead_bodies *bodies) {
  counting self = {census, bodies};
  undead_heap_each(bodies->heap, count_block, &self);
}
