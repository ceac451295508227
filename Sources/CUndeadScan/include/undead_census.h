// Counts of live objects.
#pragma once
#include <stdint.h>

#define UNDEAD_CENSUS_SCOPES 64
#define UNDEAD_CENSUS_SAMPLES 3

// The live objects of a type.
typedef struct {
  uintptr_t isa;             // for a class its metadata
  uint64_t objects, bytes;
  uint32_t kind;             // 1: a class; others are closure contexts and the like
  uint32_t samples, reached_samples;
  uint32_t born[UNDEAD_CENSUS_SCOPES];       // how many of them were born in each scope that was asked for
  uintptr_t sample[UNDEAD_CENSUS_SAMPLES];   // some objects, of the last of these scopes; the first ones are reached
} undead_census_entry;
