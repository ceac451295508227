#include "platform/maps_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *parse_hex(const char *text, const char *end, uintptr_t *value) {
  uintptr_t result = 0;
  for (; text < end; text++) {
    unsigned digit;
    if (*text >= '0' && *text <= '9') digit = (unsigned)(*text - '0');
    else if (*text >= 'a' && *text <= 'f') digit = (unsigned)(*text - 'a' + 10);
    else break;
    result = result << 4 | digit;
  }
  *value = result;
  return text;
}

const char *undead_maps_next_field(const char *text, const char *end) {
  while (text < end && *text != ' ') text++;
  while (text < end && *text == ' ') text++;
  return text;
}

static uint64_t parse_decimal(const char *text, const char *end) {
  uint64_t value = 0;
  for (; text < end && *text >= '0' && *text <= '9'; text++) value = value * 10 + (uint64_t)(*text - '0');
  return value;
}

bool undead_maps_parse(const char *text, const char *end, undead_maps_line *line) {
  text = parse_hex(text, end, &line->mapping.low);
  if (text == end || *text++ != '-') return false;
  text = parse_hex(text, end, &line->mapping.high);
  if (end - text < 5 || *text++ != ' ') return false;
  line->mapping.readable = text[0] == 'r';
  line->mapping.writable = text[1] == 'w';
  line->mapping.executable = text[2] == 'x';
  line->mapping.shared = text[3] == 's';
  uintptr_t offset;
  text = undead_maps_next_field(parse_hex(undead_maps_next_field(text, end), end, &offset), end);
  line->mapping.offset = offset;
  text = undead_maps_next_field(text, end);
  line->mapping.inode = parse_decimal(text, end);
  text = undead_maps_next_field(text, end);
  line->path = text;
  line->path_length = (size_t)(end - text);
  return line->mapping.low < line->mapping.high;
}

// Reads the map in pieces: a line may span two of them.
bool undead_maps_each_line(const char *file, undead_maps_line_visitor visit, void *context) {
  char buffer[8192];
  size_t used = 0;
  int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  for (bool more = true; more;) {
    ssize_t got = read(descriptor, buffer + used, sizeof buffer - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += (size_t)got;
    char *start = buffer, *newline;
    while (more && (newline = memchr(start, '\n', used - (size_t)(start - buffer)))) {
      more = visit(context, start, newline);
      start = newline + 1;
    }
    used -= (size_t)(start - buffer);
    if (used == sizeof buffer) used = 0;
    memmove(buffer, start, used);
  }
  close(descriptor);
  return true;
}
