// The texts of a snapshot: each one once, and found again, whatever order the elements of collections come in.
#include "../record/check.h"
#include "session/buffers/string_table.c"
#include "session/buffers/vector.c"
#include <stdlib.h>

#define MANY 200000

static const char *text_at(const undead_string_table *table, uint32_t offset) {
  return (const char *)table->bytes.bytes + offset;
}

static uint32_t add_element_text(undead_string_table *table, uint32_t number) {
  char text[32];
  snprintf(text, sizeof(text), "[%u]", number);
  uint32_t offset = undead_string_add(table, text);
  CHECK(offset && strcmp(text_at(table, offset), text) == 0);
  CHECK(undead_string_add(table, text) == offset);
  return offset;
}

static void add_all(undead_string_table *table, uint32_t start, uint32_t step, uint32_t *offsets) {
  for (uint32_t i = 0, number = start; i < MANY; i++, number = (number + step) % MANY) {
    uint32_t offset = add_element_text(table, number);
    CHECK(offsets[number] == 0 || offsets[number] == offset);
    offsets[number] = offset;
  }
}

// In order, from the end, and in an order of leaps; then all again.
static void elements(uint32_t start, uint32_t step) {
  undead_string_table table = {0};
  uint32_t *offsets = calloc(MANY, sizeof(uint32_t));
  add_element_text(&table, 99999999);
  add_all(&table, start, step, offsets);
  size_t size = table.bytes.size;
  add_all(&table, 0, 1, offsets);
  CHECK(table.bytes.size == size);
  CHECK(!table.failed);
  free(offsets);
  undead_strings_free(&table);
}

static void other_texts(void) {
  static const char *const texts[] = {"[1]",  "[01]", "[1", "1]", "[]",  "[-1]",         "[1].x",
                                      "[1]]", "[a]",  "[0]", "[00]", "[key]", "[4294967296]", "[4294967295]"};
  undead_string_table table = {0};
  CHECK(undead_string_add(&table, "") == 0 && undead_string_add(&table, NULL) == 0);
  uint32_t offsets[sizeof(texts) / sizeof(texts[0])];
  for (int round = 0; round < 2; round++)
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
      uint32_t offset = undead_string_add(&table, texts[i]);
      CHECK(strcmp(text_at(&table, offset), texts[i]) == 0);
      CHECK(round == 0 || offsets[i] == offset);
      offsets[i] = offset;
    }
  undead_strings_free(&table);
}

int main(void) {
  elements(0, 1);
  elements(MANY - 1, MANY - 1);
  elements(7, 77773);
  other_texts();
  return failures != 0;
}
