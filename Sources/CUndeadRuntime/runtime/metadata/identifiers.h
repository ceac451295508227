// Identifiers in mangled names.
#pragma once
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { UNDEAD_MOST_TYPE_TEXT = 512 };
// The end of the identifier at `text` in a mangled name, NULL if there is none that is written out.
const char *undead_end_of_identifier(const char *text, const char *end);
// Writes a mangled type without substitutions to a text of that size, of which only that of the module is understood; its
// length, 0 if there are others, or no room.
size_t undead_plain_type(const char *type, size_t type_length, const char *module, size_t module_length, char *text);

#pragma GCC visibility pop
