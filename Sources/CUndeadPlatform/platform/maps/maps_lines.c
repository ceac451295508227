// Reads lines of /proc/self/maps and smaps, or of texts that a replica was given instead. No state but those texts.
#include "platform/maps/maps_internal.h"
#include "platform/memory/own_data.h"
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

typedef struct {
  const char *text;
  size_t bytes;
} given_text;

static given_text given_maps, given_smaps;

void undead_maps_give(const char *maps, size_t maps_bytes, const char *smaps, size_t smaps_bytes) {
  given_maps = (given_text){maps, maps_bytes};
  given_smaps = (given_text){smaps, smaps_bytes};
}

static bool each_line_of_text(const given_text *given, undead_maps_line_visitor visit, void *context) {
  const char *end = given->text + given->bytes, *newline;
  for (const char *at = given->text; at < end; at = newline + 1) {
    if (!(newline = memchr(at, '\n', (size_t)(end - at)))) newline = end;
    if (!visit(context, at, newline)) break;
  }
  return true;
}

// Reads the map in pieces: a line may span two of them.
static bool each_line_of_file(
  const char *file, char *buffer, size_t size, undead_maps_line_visitor visit, void *context) {
  size_t used = 0;
  int descriptor = open(file, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  for (bool more = true; more;) {
    ssize_t got = read(descriptor, buffer + used, size - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += (size_t)got;
    char *start = buffer, *newline;
    while (more && (newline = memchr(start, '\n', used - (size_t)(start - buffer)))) {
      more = visit(context, start, newline);
      start = newline + 1;
    }
    used -= (size_t)(start - buffer);
    if (used == size) used = 0;
    memmove(buffer, start, used);
  }
  close(descriptor);
  return true;
}

bool undead_maps_each_line(char *buffer, size_t size, undead_maps_line_visitor visit, void *context) {
  if (given_maps.text) return each_line_of_text(&given_maps, visit, context);
  return each_line_of_file("/proc/thread-self/maps", buffer, size, visit, context);
}

bool undead_smaps_each_line(undead_maps_line_visitor visit, void *context) {
  if (given_smaps.text) return each_line_of_text(&given_smaps, visit, context);
  char buffer[UNDEAD_MAPS_BUFFER];
  return !given_maps.text && each_line_of_file("/proc/thread-self/smaps", buffer, sizeof buffer, visit, context);
}
