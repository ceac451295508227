// Counts the live Swift objects by type, and for each type those that were born in given allocation scopes.
#pragma once
#include "undead_census.h"

#define UNDEAD_CENSUS_TYPES (1u << 14)   // distinct types; a power of two

typedef struct undead_census {
  const uint32_t *scopes;      // at most UNDEAD_CENSUS_SCOPES
  uint32_t scope_count;
  undead_census_entry *entries;   // hash table by isa; an isa of 0 is a free place. NULL: nothing is counted
  uint32_t used;
  uint64_t dropped;            // objects of types for which there was no place
} undead_census;

// In place of an isa, in a count of all blocks.
#define UNDEAD_CENSUS_MEMORY 1u        // memory without a type
#define UNDEAD_CENSUS_SIDE_TABLES 2u   // of weak references

struct undead_bodies;   // scan/bodies/body.h

void undead_census_clear(undead_census *census);
// Fills in the table. The blocks that are reached must be marked; only while the world is stopped.
void undead_census_count(undead_census *census, struct undead_bodies *bodies);
// The same for all blocks, also of objects that have run their deinit. Nothing need be marked.
void undead_census_count_all(undead_census *census, struct undead_bodies *bodies);
