// The STRINGS section while it is built: every text once.
#pragma once
#include "platform/memory/index_map.h"
#include "session/buffers/vector.h"

#pragma GCC visibility push(hidden)

typedef struct {
  undead_vector bytes;
  undead_index_map offsets;
  undead_vector elements;  // offset of "[n]" by n, 0 for one that is not there: an array may have a million
  uint32_t element_count;
  bool sparse;             // some "[n]" are in `offsets`
  bool failed;             // no memory, or more than 4 GiB of texts
} undead_string_table;

// Offset of `string` in the section, 0 for "" and NULL.
uint32_t undead_string_add(undead_string_table *table, const char *string);
void undead_strings_free(undead_string_table *table);

#pragma GCC visibility pop
