#include "session/buffers/buffers.h"
#include "platform/memory/memory.h"
#include <string.h>

bool undead_vector_reserve(undead_vector *vector, size_t size) {
  if (vector->capacity - vector->size >= size) return true;
  size_t capacity = vector->capacity ? vector->capacity * 2 : 64 << 10;
  while (capacity - vector->size < size) capacity *= 2;
  uint8_t *bytes = undead_map(capacity);
  if (!bytes) return false;
  if (vector->bytes) {
    memcpy(bytes, vector->bytes, vector->size);
    undead_unmap(vector->bytes, vector->capacity);
  }
  vector->bytes = bytes;
  vector->capacity = capacity;
  return true;
}

bool undead_vector_append(undead_vector *vector, const void *bytes, size_t size) {
  if (!undead_vector_reserve(vector, size)) return false;
  memcpy(vector->bytes + vector->size, bytes, size);
  vector->size += size;
  return true;
}

void undead_vector_free(undead_vector *vector) {
  if (vector->bytes) undead_unmap(vector->bytes, vector->capacity);
  *vector = (undead_vector){0};
}
