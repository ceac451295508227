// Which addresses are code, by the table that each image has of its functions.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef enum {
  UNDEAD_CODE_UNKNOWN,   // in no image, or in one without such a table
  UNDEAD_CODE,           // between the starts of the image's first and last functions
  UNDEAD_NO_CODE,
} undead_code;

// Without a lock, on any thread.
undead_code undead_code_at(uintptr_t address);

#pragma GCC visibility pop
