// Text in fixed buffers, without printf: usable in signal handlers and before main.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  char *start;
  size_t size;     // of the buffer, terminating zero included
  size_t length;   // without the zero; what does not fit is cut off
} undead_text;

undead_text undead_text_in(char *buffer, size_t size);
void undead_text_add(undead_text *text, const char *string);
void undead_text_number(undead_text *text, int64_t number);

// Copies `string` into `buffer`, cut off to fit, always terminated.
void undead_text_copy(char *buffer, size_t size, const char *string);

// Parses a decimal number that fills the whole string; false if it is none or does not fit.
bool undead_text_parse(const char *string, int64_t *number);

#pragma GCC visibility pop
