// A growing array of bytes in mapped memory.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uint8_t *bytes;
  size_t size, capacity;
} undead_vector;

// Makes room for `size` more bytes; false if there is no memory.
bool undead_vector_reserve(undead_vector *vector, size_t size);
bool undead_vector_append(undead_vector *vector, const void *bytes, size_t size);
void undead_vector_free(undead_vector *vector);

#pragma GCC visibility pop
