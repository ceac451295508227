// Texts in fixed buffers: what the session does with them beside making them (platform/system/text.h).
#pragma once
#include "platform/system/text.h"
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Copies `string` into `buffer`, cut off to fit, always terminated.
void undead_text_copy(char *buffer, size_t size, const char *string);

// Parses a decimal number that fills the whole string; false if it is none or does not fit.
bool undead_text_parse(const char *string, int64_t *number);

#pragma GCC visibility pop
