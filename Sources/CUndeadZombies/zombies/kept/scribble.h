// What stands in a dead object's words: tells the number of its death and the offset, and is no address.
#pragma once
#include "runtime/abi.h"
#include <stdbool.h>
#include <stdint.h>

// So far from the word that it was made for, in bytes, an access may be.
#define UNDEAD_SCRIBBLE_TOP 0x5A5Aull
#define UNDEAD_SCRIBBLE_REACH 512u

// A scribble: 28 bits of the number of the death, 10 bits of the word in the object, a margin for accesses beside it.
#define UNDEAD_SCRIBBLE_NUMBER_BITS 28
#define UNDEAD_SCRIBBLE_WORD_BITS 10
#define UNDEAD_SCRIBBLE_MARGIN_BITS 10
#define UNDEAD_SCRIBBLE_BYTES ((1u << UNDEAD_SCRIBBLE_WORD_BITS) * 8)   // of an object, from its start
_Static_assert(UNDEAD_SCRIBBLE_REACH * 2 == 1u << UNDEAD_SCRIBBLE_MARGIN_BITS, "the margin reaches to both sides");

static inline uint64_t undead_scribble_for(uint64_t number, uint64_t offset) {
  uint64_t low = (number & ((1u << UNDEAD_SCRIBBLE_NUMBER_BITS) - 1)) << UNDEAD_SCRIBBLE_WORD_BITS | offset / 8;
  return UNDEAD_SCRIBBLE_TOP << 48 | low << UNDEAD_SCRIBBLE_MARGIN_BITS | UNDEAD_SCRIBBLE_REACH;
}

static inline void undead_scribble(uintptr_t object, uint64_t size, uint64_t number) {
  uint64_t end = size < UNDEAD_SCRIBBLE_BYTES ? size & ~7ull : UNDEAD_SCRIBBLE_BYTES;
  uint64_t word = undead_scribble_for(number, ABI_OBJECT_HEADER);
  for (uint64_t offset = ABI_OBJECT_HEADER; offset < end; offset += 8, word += 1u << UNDEAD_SCRIBBLE_MARGIN_BITS)
    *(uint64_t *)(object + offset) = word;
}

static inline bool undead_is_scribble(uint64_t word) {
  // Uses of a reference clear some or all of the top bits: tags of enums and bridged objects.
  uint64_t top = word >> 48;
  return (top & 0xFF) == (UNDEAD_SCRIBBLE_TOP & 0xFF) && (top & ~UNDEAD_SCRIBBLE_TOP) == 0;
}
