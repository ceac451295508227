// How the evidence of an object's bytes is put together.
#pragma once
#include "runtime/evidence.h"

enum {
  BYTE_RAW, BYTE_COUNTED, BYTE_NUMBER, BYTE_NONE, BYTE_TEXT, BYTE_GUARDED, BYTE_BUFFER,
  BYTE_PADDING,   // of no field
};

void undead_evidence_set(undead_evidence_map *map, size_t base, size_t size, uint8_t value);
// A word; raw if it is not aligned.
void undead_evidence_reference(undead_evidence_map *map, size_t base, uint8_t value);
void undead_evidence_add_buffer(undead_evidence_map *map, size_t base);
// The guard of a guarded word.
undead_guard *undead_evidence_guard(undead_evidence_map *map, size_t word);
// What is there is only there if `guard` (whose `word` is not looked at) says that there is a value.
void undead_evidence_guard_all(undead_evidence_map *map, size_t base, size_t size, const undead_guard *guard);
// No word counts any more.
void undead_evidence_distrust(undead_evidence_map *map, size_t base, size_t size);
uint8_t undead_evidence_merge(uint8_t one, uint8_t other);
