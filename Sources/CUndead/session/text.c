#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/text.h"

undead_text undead_text_in(char *buffer, size_t size) {
  if (size > 0) buffer[0] = 0;
  return (undead_text){.start = buffer, .size = size, .length = 0};
}

void undead_text_add(undead_text *text, const char *string) {
  if (!string || text->size == 0) return;
  while (*string && text->length + 1 < text->size) text->start[text->length++] = *string++;
  text->start[text->length] = 0;
}

void undead_text_number(undead_text *text, int64_t number) {
  char digits[24];
  size_t at = sizeof(digits) - 1;
  uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (number < 0) digits[--at] = '-';
  undead_text_add(text, digits + at);
}

void undead_text_copy(char *buffer, size_t size, const char *string) {
  undead_text text = undead_text_in(buffer, size);
  undead_text_add(&text, string);
}

bool undead_text_parse(const char *string, int64_t *number) {
  if (!string || *string == 0) return false;
  int64_t value = 0;
  for (; *string; string++) {
    if (*string < '0' || *string > '9' || value > (INT64_MAX - 9) / 10) return false;
    value = value * 10 + (*string - '0');
  }
  *number = value;
  return true;
}
#endif
