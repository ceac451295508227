#define _GNU_SOURCE
#include "platform/maps.h"
#include "platform/memory.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

uint32_t undead_maps_generation;

static undead_mapping *mappings;
static size_t mapping_count, mapping_capacity;
static size_t last_hit;

// One line of /proc/self/maps: "low-high rwxp offset dev inode   path".
typedef struct {
  undead_mapping mapping;
  const char *path;
  size_t path_length;
} maps_line;

typedef bool (*maps_visitor)(void *context, const maps_line *line);

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

static bool parse_line(const char *text, const char *end, maps_line *line) {
  text = parse_hex(text, end, &line->mapping.low);
  if (text == end || *text++ != '-') return false;
  text = parse_hex(text, end, &line->mapping.high);
  if (end - text < 5 || *text++ != ' ') return false;
  line->mapping.readable = text[0] == 'r';
  line->mapping.writable = text[1] == 'w';
  line->mapping.executable = text[2] == 'x';
  for (int field = 0; field < 4 && text < end; field++) {
    while (text < end && *text != ' ') text++;
    while (text < end && *text == ' ') text++;
  }
  line->path = text;
  line->path_length = (size_t)(end - text);
  return line->mapping.low < line->mapping.high;
}

// Reads the map in pieces: a line may span two of them.
static bool each_line(maps_visitor visit, void *context) {
  char buffer[8192];
  size_t used = 0;
  int descriptor = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  for (bool more = true; more;) {
    ssize_t got = read(descriptor, buffer + used, sizeof buffer - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += (size_t)got;
    char *start = buffer, *newline;
    while (more && (newline = memchr(start, '\n', used - (size_t)(start - buffer)))) {
      maps_line line;
      if (parse_line(start, newline, &line)) more = visit(context, &line);
      start = newline + 1;
    }
    used -= (size_t)(start - buffer);
    if (used == sizeof buffer) used = 0;
    memmove(buffer, start, used);
  }
  close(descriptor);
  return true;
}

static bool grow(void) {
  size_t capacity = mapping_capacity ? mapping_capacity * 2 : 2048;
  undead_mapping *larger = undead_map(capacity * sizeof *larger);
  if (!larger) return false;
  if (mappings) {
    memcpy(larger, mappings, mapping_count * sizeof *larger);
    undead_unmap(mappings, mapping_capacity * sizeof *larger);
  }
  mappings = larger;
  mapping_capacity = capacity;
  return true;
}

static bool add_mapping(void *context, const maps_line *line) {
  (void)context;
  undead_mapping mapping = line->mapping;
  // Pages of the kernel's clock data may fault when they are read.
  if (line->path_length >= 5 && !memcmp(line->path, "[vvar", 5)) mapping.readable = false;
  if (mapping_count == mapping_capacity && !grow()) return false;
  mappings[mapping_count++] = mapping;
  return true;
}

bool undead_maps_refresh(void) {
  int saved = errno;
  undead_maps_generation++;
  mapping_count = 0;
  last_hit = 0;
  bool ok = each_line(add_mapping, NULL) && mapping_count > 0;
  errno = saved;
  return ok;
}

const undead_mapping *undead_mapping_of(uintptr_t address) {
  if (last_hit < mapping_count && mappings[last_hit].low <= address && address < mappings[last_hit].high)
    return &mappings[last_hit];
  size_t low = 0, high = mapping_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (mappings[middle].high <= address) low = middle + 1;
    else high = middle;
  }
  if (low == mapping_count || mappings[low].low > address) return NULL;
  last_hit = low;
  return &mappings[low];
}

size_t undead_mapping_count(void) {
  return mapping_count;
}

const undead_mapping *undead_mapping_at(size_t index) {
  assert(index < mapping_count);
  return &mappings[index];
}

bool undead_is_readable(uintptr_t address, size_t size) {
  const undead_mapping *mapping = undead_mapping_of(address);
  uintptr_t end = address + size;
  if (!mapping || end < address) return false;
  while (mapping->readable && end > mapping->high) {
    const undead_mapping *next = mapping + 1;
    if (next == mappings + mapping_count || next->low != mapping->high) return false;
    mapping = next;
  }
  return mapping->readable;
}

bool undead_is_executable(uintptr_t address) {
  const undead_mapping *mapping = undead_mapping_of(address);
  return mapping && mapping->executable;
}

typedef struct {
  uintptr_t address;
  char *text;
  size_t size;
  bool found;
} path_query;

static bool match_path(void *context, const maps_line *line) {
  path_query *query = context;
  if (query->address < line->mapping.low || query->address >= line->mapping.high) return true;
  size_t length = line->path_length < query->size - 1 ? line->path_length : query->size - 1;
  memcpy(query->text, line->path, length);
  query->text[length] = 0;
  query->found = length > 0;
  return false;
}

bool undead_mapping_path(uintptr_t address, char *text, size_t size) {
  assert(size > 0);
  int saved = errno;
  path_query query = {address, text, size, false};
  text[0] = 0;
  each_line(match_path, &query);
  errno = saved;
  return query.found;
}
