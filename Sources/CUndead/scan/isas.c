#include "scan/isas.h"
#include "platform/maps.h"
#include "platform/memory.h"
#include "record/registry.h"
#include "runtime/layout.h"

#define TABLE_SLOTS (UNDEAD_MAX_ISAS * 2)
#define RECENT_SLOTS 8192u

typedef struct {
  undead_isas *isas;
  uintptr_t *recent;   // words that were looked at lately, whatever they are
} isa_search;

bool undead_isas_open(undead_isas *isas) {
  *isas = (undead_isas){0};
  isas->list = undead_map(UNDEAD_MAX_ISAS * sizeof *isas->list);
  isas->table = undead_map((TABLE_SLOTS + RECENT_SLOTS) * sizeof *isas->table);
  if (isas->list && isas->table) return true;
  undead_isas_close(isas);
  return false;
}

void undead_isas_close(undead_isas *isas) {
  if (isas->list) undead_unmap(isas->list, UNDEAD_MAX_ISAS * sizeof *isas->list);
  if (isas->table) undead_unmap(isas->table, (TABLE_SLOTS + RECENT_SLOTS) * sizeof *isas->table);
  *isas = (undead_isas){0};
}

static uint64_t hash(uintptr_t word) { return (word >> 3) * 0x9E3779B97F4A7C15ull >> 32; }

static void add(undead_isas *isas, uintptr_t word) {
  uint64_t slot = hash(word) & (TABLE_SLOTS - 1);
  for (; isas->table[slot]; slot = (slot + 1) & (TABLE_SLOTS - 1))
    if (isas->table[slot] == word) return;
  if (isas->count == UNDEAD_MAX_ISAS || undead_classify(word, UINT64_MAX) == UNDEAD_KIND_OTHER) return;
  isas->table[slot] = word;
  isas->list[isas->count++] = word;
}

static bool visit(void *context, uintptr_t block, uint32_t *registered) {
  (void)registered;
  isa_search *search = context;
  uintptr_t word = *(const volatile uintptr_t *)block;
  uintptr_t *recent = &search->recent[hash(word) & (RECENT_SLOTS - 1)];
  if (*recent == word || word & 7 || word < 4096 || word >> 47) return true;
  *recent = word;
  // Lists and trees of C begin with the address of another block; no metadata lies at the start of one.
  uint32_t *slot = undead_registry_slot(word);
  if (slot && *slot && (word & 15) == 0) return true;
  add(search->isas, word);
  return true;
}

void undead_isas_collect(undead_isas *isas) {
  isa_search search = {isas, isas->table + TABLE_SLOTS};
  if (undead_maps_refresh()) undead_registry_each(visit, &search);
}
