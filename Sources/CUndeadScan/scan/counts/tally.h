// How many counted references lead to each of some blocks, and whether these are all that the block's strong count says.
#pragma once
#include "scan/blocks/address_index.h"
#include "scan/bodies/body.h"

typedef struct {
  uintptr_t block;
  uint32_t counted;    // counted references that were added up so far
  bool named;          // weak evidence names it itself
  uint8_t wanted;      // so many of those who hold it are still to be listed (owners.c)
  uint8_t named_by;    // UNDEAD_NODE_NAMED_*
  uint8_t why;         // UNDEAD_WHY_* (certainty.h)
} undead_tallied;

typedef struct {
  const undead_heap *heap;
  undead_bodies *bodies;
  uint32_t bit, except, without;   // of the words of the blocks
  undead_tallied *blocks;   // ascending
  uint32_t count, capacity;
  undead_address_index index;
  const undead_body *body;  // whose words are looked at
} undead_tally;

// Whether the word at `at` of a body, which names the start of a block of that kind, is a reference that the block's count
// includes: a field, an element, a capture; what a closure of C or a task owns by its nature.
bool undead_is_owning_word(const undead_bodies *bodies, const undead_body *body, uintptr_t at, undead_kind kind);
// Whether it is a closure of C, which has a count of its own.
bool undead_is_closure_of_c(const undead_bodies *bodies, uintptr_t block);
uint32_t undead_count_of_closure(uintptr_t block);

// Lists the blocks in whose words `bit` is set and `without` is not; find and add want the bit to stay set. False without memory.
bool undead_tally_list(undead_tally *tally, undead_bodies *bodies, uint32_t bit, uint32_t without);
// Lists the blocks in whose words `bit` is set; it must stay until all references are added, but is cleared where one of
// `except` is set, too. False without memory.
bool undead_tally_open(undead_tally *tally, undead_bodies *bodies, uint32_t bit, uint32_t except);
void undead_tally_close(undead_tally *tally);
// NULL if the block is not listed.
undead_tallied *undead_tally_find(const undead_tally *tally, uintptr_t block);
// Adds the counted references of a block to the listed ones.
void undead_tally_add(undead_tally *tally, uintptr_t block);
// Whether it is of a kind that counts its references.
bool undead_tally_is_counted(const undead_tally *tally, const undead_tallied *tallied);
// Whether those who were added explain alone that the block is still there.
bool undead_tally_explains(const undead_tally *tally, const undead_tallied *tallied);
