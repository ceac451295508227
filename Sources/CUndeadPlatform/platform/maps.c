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

static const char *next_field(const char *text, const char *end) {
  while (text < end && *text != ' ') text++;
  while (text < end && *text == ' ') text++;
  return text;
}

static uint64_t parse_decimal(const char *text, const char *end) {
  uint64_t value = 0;
  for (; text < end && *text >= '0' && *text <= '9'; text++) value = value * 10 + (uint64_t)(*text - '0');
  return value;
}

static bool parse_line(const char *text, const char *end, maps_line *line) {
  text = parse_hex(text, end, &line->mapping.low);
  if (text == end || *text++ != '-') return false;
  text = parse_hex(text, end, &line->mapping.high);
  if (end - text < 5 || *text++ != ' ') return false;
  line->mapping.readable = text[0] == 'r';
  line->mapping.writable = text[1] == 'w';
  line->mapping.executable = text[2] == 'x';
  line->mapping.shared = text[3] == 's';
  uintptr_t offset;
  text = next_field(parse_hex(next_field(text, end), end, &offset), end);
  line->mapping.offset = offset;
  text = next_field(text, end);
  line->mapping.inode = parse_decimal(text, end);
  text = next_field(text, end);
  line->path = text;
  line->path_length = (size_t)(end - text);
  return line->mapping.low < line->mapping.high;
}

// Reads the map in pieces: a line may span two of them.
static bool each_text_line(const char *file, bool (*visit)(void *context, const char *text, const char *end),
                           void *context) {
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

typedef struct {
  maps_visitor visit;
  void *context;
} line_visit;

static bool visit_text(void *context, const char *text, const char *end) {
  const line_visit *wanted = context;
  maps_line line = {0};
  return !parse_line(text, end, &line) || wanted->visit(wanted->context, &line);
}

static bool each_line(maps_visitor visit, void *context) {
  line_visit wanted = {visit, context};
  return each_text_line("/proc/thread-self/maps", visit_text, &wanted);
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

static bool starts_with(const maps_line *line, const char *prefix) {
  size_t length = strlen(prefix);
  return line->path_length >= length && !memcmp(line->path, prefix, length);
}

static undead_mapped what_is_mapped(const maps_line *line) {
  static const char *const kernel[] = {"[vvar", "[vdso", "[vsyscall", "[uprobes"};
  static const char *const memory[] = {"/dev/zero", "/memfd:", "/dev/shm/", "/SYSV", "anon_inode:[io_uring]"};
  for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
    if (starts_with(line, kernel[i])) return UNDEAD_MAPPED_KERNEL;
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    if (starts_with(line, memory[i])) return UNDEAD_MAPPED_MEMORY;
  return line->mapping.inode || (line->path_length && line->path[0] != '[') ? UNDEAD_MAPPED_FILE : UNDEAD_MAPPED_NOTHING;
}

// The paths of a map; those for which there is no room are not known.
#define PATHS_BYTES (4u << 20)
static char *paths;
static size_t paths_used;

static const char *kept_path(const maps_line *line) {
  const char *last = mapping_count ? mappings[mapping_count - 1].path : "";
  if (!line->path_length) return "";
  if (strlen(last) == line->path_length && !memcmp(last, line->path, line->path_length)) return last;
  if (!paths && !(paths = undead_map(PATHS_BYTES))) return "";
  if (line->path_length + 1 > PATHS_BYTES - paths_used) return "";
  char *kept = paths + paths_used;
  memcpy(kept, line->path, line->path_length);
  kept[line->path_length] = 0;
  paths_used += line->path_length + 1;
  return kept;
}

static bool add_mapping(void *context, const maps_line *line) {
  (void)context;
  undead_mapping mapping = line->mapping;
  mapping.what = (uint8_t)what_is_mapped(line);
  // Pages of the kernel's clock data may fault when they are read.
  if (starts_with(line, "[vvar")) mapping.readable = false;
  if (mapping_count == mapping_capacity && !grow()) return false;
  mapping.path = kept_path(line);
  mappings[mapping_count++] = mapping;
  return true;
}

// The lines of /proc/PID/smaps: one as in the map, then "Name: value" for each property, "VmFlags:" among them.
static bool note_flags(void *context, const char *text, const char *end) {
  undead_mapping **current = context;
  maps_line line;
  static const char flags[] = "VmFlags:";
  if (end - text >= (ptrdiff_t)sizeof flags && !memcmp(text, flags, sizeof flags - 1)) {
    for (; *current && (text = next_field(text, end)) + 2 <= end;)
      (*current)->not_inherited |= !memcmp(text, "dc", 2) || !memcmp(text, "wf", 2);
  } else if (parse_line(text, end, &line)) {
    *current = (undead_mapping *)undead_mapping_of(line.mapping.low);
  }
  return true;
}

bool undead_maps_note_inheritance(void) {
  int saved = errno;
  undead_mapping *current = NULL;
  bool ok = each_text_line("/proc/thread-self/smaps", note_flags, &current);
  errno = saved;
  return ok;
}

bool undead_maps_refresh(void) {
  int saved = errno;
  undead_maps_generation++;
  mapping_count = 0;
  paths_used = 0;
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
  bool (*visit)(void *context, const undead_mapping *mapping);
  void *context;
} mapping_visit;

static bool visit_mapping(void *context, const maps_line *line) {
  const mapping_visit *wanted = context;
  return wanted->visit(wanted->context, &line->mapping);
}

bool undead_maps_each(bool (*visit)(void *context, const undead_mapping *mapping), void *context) {
  return each_line(visit_mapping, &(mapping_visit){visit, context});
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
