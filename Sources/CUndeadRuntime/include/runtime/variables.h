// The types of global variables, by the names of their symbols.
#pragma once
#include "runtime/layout.h"
#include <stddef.h>
#include <stdint.h>

enum { UNDEAD_VARIABLE_WORDS = 32 };   // looked at of a variable

// Bit i: the word at 8 * i of the variable with this symbol is certainly a number. 0 for what is not understood. The world
// must be running, the memory map fresh: this may ask the Swift runtime for types.
uint32_t undead_variable_numbers(const char *symbol, size_t size);

enum { UNDEAD_MOST_TYPE_TEXT = 512 };
// The end of the identifier at `text` in a mangled name, NULL if there is none that is written out.
const char *undead_end_of_identifier(const char *text, const char *end);
// Writes a mangled type without substitutions to a text of that size, of which only that of the module is understood; its
// length, 0 if there are others, or no room.
size_t undead_plain_type(const char *type, size_t type_length, const char *module, size_t module_length, char *text);
