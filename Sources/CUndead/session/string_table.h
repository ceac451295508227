// The STRINGS section while it is built: every text once.
#pragma once
#include "platform/index_map.h"
#include "session/vector.h"

#pragma GCC visibility push(hidden)

typedef struct {
  undead_vector bytes;
  undead_index_map offsets;
  bool failed;             // no memory, or more than 4 GiB of texts
} undead_string_table;

// Offset of `string` in the section, 0 for "" and NULL.
uint32_t undead_string_add(undead_string_table *table, const char *string);
void undead_strings_free(undead_string_table *table);

#pragma GCC visibility pop
