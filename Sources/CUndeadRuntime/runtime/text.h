// A text of bounded length under construction: always terminated, cut at a character.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  char *data;
  size_t size, length;
} undead_text;

static inline undead_text text_in(char *data, size_t size) {
  if (size) data[0] = 0;
  return (undead_text){data, size, 0};
}

static inline void text_add_bytes(undead_text *text, const char *bytes, size_t count) {
  if (text->length + 1 >= text->size) return;
  size_t room = text->size - 1 - text->length;
  if (count > room) {
    count = room;
    // Do not end within a UTF-8 sequence.
    while (count > 0 && ((unsigned char)bytes[count] & 0xC0) == 0x80) count--;
  }
  memcpy(text->data + text->length, bytes, count);
  text->length += count;
  text->data[text->length] = 0;
}

static inline void text_add(undead_text *text, const char *string) { text_add_bytes(text, string, strlen(string)); }

static inline void text_add_number(undead_text *text, uint64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
  text_add(text, digits);
}
