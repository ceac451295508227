#include "platform/system/read_text.h"
#include "platform/processor/processor.h"
#include <fcntl.h>
#include <string.h>

long undead_read_text_of(long descriptor, char *text, size_t size) {
  text[0] = 0;
  if (descriptor < 0) return descriptor;
  long length = undead_raw3(SYS_read, descriptor, (long)text, (long)size - 1);
  undead_raw3(SYS_close, descriptor, 0, 0);
  text[length > 0 ? length : 0] = 0;
  return length;
}

long undead_read_text(const char *path, char *text, size_t size) {
  return undead_read_text_of(undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0), text, size);
}

static unsigned digit_of(char character) {
  if (character >= '0' && character <= '9') return (unsigned)(character - '0');
  char lower = character | 0x20;
  return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10 : 16;
}

uint64_t undead_read_number(const char *text, unsigned base, const char **end) {
  uint64_t number = 0;
  while (*text == ' ' || *text == '\t') text++;
  bool is_hex = text[0] == '0' && (text[1] | 0x20) == 'x' && digit_of(text[2]) < 16;
  if (base != 10 && is_hex) {
    base = 16;
    text += 2;
  }
  if (base == 0) base = *text == '0' ? 8 : 10;
  for (; digit_of(*text) < base; text++) {
    bool fits = !__builtin_mul_overflow(number, base, &number) && !__builtin_add_overflow(number, digit_of(*text), &number);
    if (!fits) number = UINT64_MAX;
  }
  if (end) *end = text;
  return number;
}

bool undead_read_bytes(const char *text, uint64_t *bytes) {
  static const char units[] = "KMG";
  const char *at;
  if (!text || digit_of(*text) > 9) return false;
  uint64_t number = undead_read_number(text, 10, &at);
  const char *unit = *at > ' ' ? strchr(units, *at & ~0x20) : NULL;
  int shift = unit ? (int)(unit - units + 1) * 10 : 0;
  at += unit != NULL;
  at += *at == 'i';
  at += *at == 'B';
  *bytes = number > UINT64_MAX >> shift ? UINT64_MAX : number << shift;
  return !*at;
}

uint64_t undead_number_in(const char *path) {
  char text[32];
  undead_read_text(path, text, sizeof text);
  return undead_read_number(text, 10, NULL);
}

// proc_pid_stat(5). The second field, the name, may have spaces in it.
uint64_t undead_start_ticks(const char *path) {
  enum { NAME_FIELD = 2, START_FIELD = 22 };
  char text[1024];
  undead_read_text(path, text, sizeof text);
  const char *at = strrchr(text, ')');
  for (int field = NAME_FIELD; at && field < START_FIELD; field++) at = strchr(at + 1, ' ');
  return at ? undead_read_number(at, 10, NULL) : 0;
}
