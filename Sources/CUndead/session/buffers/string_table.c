#include "session/buffers/buffers.h"
#include <string.h>

static uint32_t append(undead_string_table *table, const char *string, size_t length) {
  size_t offset = table->bytes.size;
  if (offset + length < UINT32_MAX && undead_vector_append(&table->bytes, string, length + 1)) return (uint32_t)offset;
  table->failed = true;
  return 0;
}

// The number in "[12]"; UINT32_MAX for any other text.
static uint32_t element_number(const char *string) {
  if (*string++ != '[' || *string < '0' || *string > '9') return UINT32_MAX;
  if (*string == '0' && string[1] != ']') return UINT32_MAX;
  uint32_t number = 0;
  for (int digits = 0; *string >= '0' && *string <= '9'; string++, digits++) {
    if (digits == 8) return UINT32_MAX;
    number = number * 10 + (uint32_t)(*string - '0');
  }
  return string[0] == ']' && string[1] == 0 ? number : UINT32_MAX;
}

// Where the offset of an element's text is kept; NULL if that would take more room than a map, or there is none.
static uint32_t *element_slot(undead_string_table *table, uint32_t number) {
  size_t needed = ((size_t)number + 1) * sizeof(uint32_t);
  if (table->elements.size < needed) {
    if (number > 2 * (size_t)table->element_count + 1024) return NULL;
    if (!undead_vector_reserve(&table->elements, needed - table->elements.size)) return NULL;
    table->elements.size = needed;   // fresh memory is zero
  }
  return (uint32_t *)table->elements.bytes + number;
}

static uint32_t add_hashed(undead_string_table *table, const char *string) {
  size_t length = strlen(string);
  uint64_t first = undead_hash(string, length, 1), second = undead_hash(string, length, 2);
  uint32_t known = undead_index_find(&table->offsets, first, second);
  if (known != UNDEAD_NO_INDEX) return known;
  uint32_t offset = append(table, string, length);
  if (offset && !undead_index_add(&table->offsets, first, second, offset)) table->failed = true;
  return table->failed ? 0 : offset;
}

static uint32_t add_element(undead_string_table *table, const char *string, uint32_t number) {
  uint32_t *slot = element_slot(table, number);
  if (!slot) {
    table->sparse = true;
    return add_hashed(table, string);
  }
  if (*slot) return *slot;
  *slot = table->sparse ? add_hashed(table, string) : append(table, string, strlen(string));
  table->element_count++;
  return *slot;
}

uint32_t undead_string_add(undead_string_table *table, const char *string) {
  // Offset 0 is the empty string.
  if (table->bytes.size == 0 && !undead_vector_append(&table->bytes, "", 1)) table->failed = true;
  if (!string || *string == 0 || table->failed) return 0;
  uint32_t number = element_number(string);
  return number == UINT32_MAX ? add_hashed(table, string) : add_element(table, string, number);
}

void undead_strings_free(undead_string_table *table) {
  undead_vector_free(&table->bytes);
  undead_vector_free(&table->elements);
  undead_index_free(&table->offsets);
}
