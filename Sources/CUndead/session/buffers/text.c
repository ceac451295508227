#include "session/buffers/buffers.h"

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
