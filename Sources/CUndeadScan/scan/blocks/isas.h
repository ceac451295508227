// The distinct types of the live Swift objects, read while the program runs: their layouts must be known before the
// world is stopped.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "runtime/layout.h"

#define UNDEAD_MAX_ISAS (1u << 18)
#define UNDEAD_MOST_VARIANTS 4096u
#define UNDEAD_DECIDING_SLOTS 1024u

typedef struct {
  uintptr_t *list;       // distinct isas
  uint32_t count;
  uintptr_t *table;      // hash of the same, at most half full
  uint32_t table_size;
  uintptr_t *recent;     // words that were looked at lately, whatever they are
  uintptr_t last;        // the last of them
  uintptr_t witnesses;   // what stands beside the isas of most objects, 0 if it is not known (scan/premises.h)
  uint32_t strangers;    // first words beside which it stands, but which are not recognised
  uint32_t odd;          // closures whose metadata cannot be true
  uint32_t alike;        // blocks of objects, as far as that shows without any number of the runtime
  struct undead_isas_variants {
    struct {
      uintptr_t isa;
      undead_deciding_words words;
    } deciding[UNDEAD_DECIDING_SLOTS];   // hash of the isas that do not say all, at most half full
    uint32_t deciding_count;
    undead_variant list[UNDEAD_MOST_VARIANTS];
    uint32_t count;
    uintptr_t keys[2 * UNDEAD_MOST_VARIANTS];   // hash of those of `list`
  } *variants;
  uintptr_t low, high;   // of readable memory, as it was when the map was read
} undead_isas;

bool undead_isas_open(undead_isas *isas);
void undead_isas_close(undead_isas *isas);

// In a helper: blocks come and go, and one that is unmapped meanwhile ends the helper (what was found stays).
void undead_isas_collect(undead_isas *isas);
