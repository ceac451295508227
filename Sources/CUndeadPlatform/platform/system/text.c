#include "platform/system/text.h"
#include <string.h>

undead_text undead_text_in(char *buffer, size_t size) {
  if (size > 0) buffer[0] = 0;
  return (undead_text){.start = buffer, .size = size, .length = 0};
}

void undead_text_add_bytes(undead_text *text, const char *bytes, size_t count) {
  if (text->length + 1 >= text->size) return;
  size_t room = text->size - 1 - text->length;
  if (count > room) {
    count = room;
    // Do not end within a UTF-8 sequence.
    while (count > 0 && ((unsigned char)bytes[count] & 0xC0) == 0x80) count--;
  }
  memcpy(text->start + text->length, bytes, count);
  text->length += count;
  text->start[text->length] = 0;
}

void undead_text_add(undead_text *text, const char *string) {
  if (string) undead_text_add_bytes(text, string, strlen(string));
}

void undead_text_add_all(undead_text *text, const char *const *strings, size_t count) {
  for (size_t i = 0; i < count; i++) undead_text_add(text, strings[i]);
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
