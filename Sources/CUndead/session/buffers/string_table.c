#include "session/buffers/buffers.h"
#include <string.h>

static uint32_t append_string(undead_string_table *table, const char *string, size_t length) {
  size_t offset = table->bytes.size;
  if (offset + length < UINT32_MAX && undead_vector_append(&table->bytes, string, length + 1)) return (uint32_t)offset;
  table->failed = true;
  return 0;
}

static uint32_t add_hashed(undead_string_table *table, const char *string) {
  size_t length = strlen(string);
  uint64_t first = undead_hash(string, length, 1), second = undead_hash(string, length, 2);
  uint32_t known = undead_index_find(&table->offsets, first, second);
  if (known != UNDEAD_NO_INDEX) return known;
  uint32_t offset = append_string(table, string, length);
  if (offset && !undead_index_add(&table->offsets, first, second, offset)) table->failed = true;
  return table->failed ? 0 : offset;
}

uint32_t undead_string_add(undead_string_table *table, const char *string) {
  // Offset 0 is the empty string.
  if (table->bytes.size == 0 && !undead_vector_append(&table->bytes, "", 1)) table->failed = true;
  if (!string || *string == 0 || table->failed) return 0;
  return add_hashed(table, string);
}

void undead_strings_free(undead_string_table *table) {
  undead_vector_free(&table->bytes);
  undead_index_free(&table->offsets);
}
