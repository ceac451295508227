// How a value of an enum with several payloads says which case it has.
#pragma once
#include "runtime/types.h"

#define UNDEAD_MOST_TAGGED_CASES 64u

// The word at `offset` of the value, with the bits of `mask`, is values[i] in case i, for the cases with a payload, and in no other.
typedef struct {
  uint32_t offset, count;
  uint64_t mask;
  uint64_t values[UNDEAD_MOST_TAGGED_CASES];
} undead_enum_tags;

// False if that is not certain.
bool undead_enum_tags_of(uintptr_t type, const undead_fields *cases, undead_enum_tags *tags);
