// How the evidence of an object's bytes is put together.
#pragma once
#include "runtime/evidence/evidence.h"
#include "runtime/types.h"

enum { UNDEAD_MOST_CHOICES = 64 };   // guards of a word of which one of several decides

enum {
  BYTE_RAW, BYTE_COUNTED, BYTE_NUMBER, BYTE_NONE, BYTE_TEXT, BYTE_GUARDED, BYTE_BUFFER,
  BYTE_CHOSEN,    // of a payload: looked at as raw, counted if its guards say so
  BYTE_PADDING,   // of no field
};

void undead_evidence_set(undead_evidence_map *map, size_t base, size_t size, uint8_t value);
// A word; raw if it is not aligned.
void undead_evidence_reference(undead_evidence_map *map, size_t base, uint8_t value);
void undead_evidence_add_buffer(undead_evidence_map *map, size_t base);
// What is there is only there if `guard` (whose `word` is not looked at) says that there is a value.
void undead_evidence_guard_all(undead_evidence_map *map, size_t base, size_t size, const undead_guard *guard);
// The word is looked at as raw, and counted if one of these choices says so; `guards` take the place of those that it has.
void undead_evidence_choose(undead_evidence_map *map, size_t word, const undead_guard *guards, uint32_t count);
// Writes to `guards` those that say when the word is counted, each choice with `also`, numbered from `choice` on. Returns how many; 0 if it
// is never counted, or they are more than `most`.
uint32_t undead_evidence_choices(const undead_evidence_map *map, size_t word, const undead_guard *also, uint32_t choice, undead_guard *guards,
                                 uint32_t most);
// Removes guards of words that turned out to be something else.
void undead_evidence_end_guards(undead_evidence_map *map);
// No word counts any more.
void undead_evidence_distrust(undead_evidence_map *map, size_t base, size_t size);
uint8_t undead_evidence_merge(uint8_t one, uint8_t other);

// How a value of an enum with several payloads says which case it has.

#define UNDEAD_MOST_TAGGED_CASES 64u

// The word at `offset` of the value, with the bits of `mask`, is values[i] in case i, for the cases with a payload, and in no other.
typedef struct {
  uint32_t offset, count;
  uint64_t mask;
  uint64_t values[UNDEAD_MOST_TAGGED_CASES];
} undead_enum_tags;

// False if that is not certain.
bool undead_enum_tags_of(uintptr_t type, const undead_fields *cases, undead_enum_tags *tags);
