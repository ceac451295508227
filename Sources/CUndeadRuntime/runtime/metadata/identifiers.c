// Mangled names that are made of identifiers alone (docs/ABI/Mangling.rst of the Swift repository): a length in digits, then the text.
#include "runtime/metadata/identifiers.h"
#include <string.h>

const char *undead_end_of_identifier(const char *text, const char *end) {
  size_t length = 0;
  if (text == end || *text < '1' || *text > '9') return NULL;
  for (; text < end && *text >= '0' && *text <= '9' && length < UNDEAD_MOST_TYPE_TEXT; text++) length = length * 10 + (size_t)(*text - '0');
  return length <= (size_t)(end - text) ? text + length : NULL;
}

typedef struct {
  const char *text;
  size_t length;
} part_of_name;

size_t undead_plain_type(const char *type, size_t type_length, const char *module, size_t module_length, char *text) {
  const char *at = type, *end = at + type_length;
  size_t length = 0;
  while (at < end) {
    const char *next = undead_end_of_identifier(at, end);
    part_of_name part = {at, next ? (size_t)(next - at) : 1};
    if (!next && (*at == 'A' || *at == '0')) {
      if (*at == '0' || end - at < 2 || at[1] != 'A') return 0;
      part = (part_of_name){module, module_length};
      next = at + 2;
    }
    if (length + part.length > UNDEAD_MOST_TYPE_TEXT) return 0;
    memcpy(text + length, part.text, part.length);
    length += part.length;
    at = next ? next : at + 1;
  }
  return length;
}
