// The types of global variables, by the names of their symbols.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { UNDEAD_VARIABLE_WORDS = 32 };   // looked at of a variable

// Bit i: the word at 8 * i of the variable with this symbol is certainly a number. 0 for what is not understood. The world
// must be running, the memory map fresh: this may ask the Swift runtime for types.
uint32_t undead_variable_numbers(const char *symbol, size_t size);

// How the variable with this symbol has the number of an open file (UNDEAD_DESCRIPTOR_*); -1 if its name and type tell of none.
int undead_variable_descriptor(const char *symbol, size_t size);
