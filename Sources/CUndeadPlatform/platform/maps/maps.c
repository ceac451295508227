#include "platform/maps/maps.h"
#include "platform/maps/holes.h"
#include "platform/maps/maps_internal.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/readable.h"
#include "platform/memory/sort.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

uint32_t undead_maps_generation;

static undead_mapping *mappings;
static size_t mapping_count, mapping_capacity;
static size_t last_hit;

typedef bool (*maps_visitor)(void *context, const undead_maps_line *line);

typedef struct {
  maps_visitor visit;
  void *context;
} line_visit;

static bool visit_text(void *context, const char *text, const char *end) {
  const line_visit *wanted = context;
  undead_maps_line line = {0};
  return !undead_maps_parse(text, end, &line) || wanted->visit(wanted->context, &line);
}

bool undead_maps_each_in(char *buffer, size_t size, maps_visitor visit, void *context) {
  line_visit wanted = {visit, context};
  return undead_maps_each_line(buffer, size, visit_text, &wanted);
}

static bool each_line(maps_visitor visit, void *context) {
  char buffer[UNDEAD_MAPS_BUFFER];
  return undead_maps_each_in(buffer, sizeof buffer, visit, context);
}

static bool starts_with(const undead_maps_line *line, const char *prefix) {
  size_t length = strlen(prefix);
  return line->path_length >= length && !memcmp(line->path, prefix, length);
}

static undead_mapped what_is_mapped(const undead_maps_line *line) {
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

static const char *kept_path(const undead_maps_line *line) {
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

static bool push(undead_mapping mapping, uintptr_t low, uintptr_t high, bool readable) {
  if (low >= high) return true;
  if (mapping_count == mapping_capacity && !undead_grow(mappings, mapping_capacity, 2048)) return false;
  mapping.offset += low - mapping.low;
  mapping.low = low;
  mapping.high = high;
  mapping.readable = readable;
  mappings[mapping_count++] = mapping;
  return true;
}

// In parts, if some of its pages cannot be read.
static bool add_mapping(void *context, const undead_maps_line *line) {
  (void)context;
  undead_mapping mapping = line->mapping;
  mapping.what = (uint8_t)what_is_mapped(line);
  // Pages of the kernel's clock data may fault when they are read.
  if (starts_with(line, "[vvar")) mapping.readable = false;
  mapping.path = kept_path(line);
  uintptr_t at = mapping.low, low, high;
  for (; undead_hole_in(at, mapping.high, &low, &high); at = high)
    if (!push(mapping, at, low, mapping.readable) || !push(mapping, low, high, false)) return false;
  return push(mapping, at, mapping.high, mapping.readable);
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
  size_t last = __atomic_load_n(&last_hit, __ATOMIC_RELAXED);   // other threads may ask, too
  if (last < mapping_count && mappings[last].low <= address && address < mappings[last].high) return &mappings[last];
  size_t at = undead_range_behind(mappings, mapping_count, sizeof *mappings, address);
  if (at == mapping_count || mappings[at].low > address) return NULL;
  __atomic_store_n(&last_hit, at, __ATOMIC_RELAXED);
  return &mappings[at];
}

size_t undead_mapping_count(void) {
  return mapping_count;
}

undead_mapping *undead_mapping_slot(size_t index) {
  assert(index < mapping_count);
  return &mappings[index];
}

const undead_mapping *undead_mapping_at(size_t index) { return undead_mapping_slot(index); }

void undead_mapping_take(size_t index, bool taken) { undead_mapping_slot(index)->taken = taken; }

void undead_mapping_open(size_t index) { undead_mapping_slot(index)->readable = true; }

void undead_maps_hide_taken(void) {
  for (size_t i = 0; i < mapping_count; i++) mappings[i].readable &= !mappings[i].taken;
}

bool undead_is_readable(uintptr_t address, size_t size) {
  if (undead_reads_ask_kernel()) return undead_kernel_lets_read(address, size);
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

size_t undead_readable_bytes(uintptr_t address, size_t most) {
  if (undead_reads_ask_kernel()) return undead_kernel_readable_bytes(address, most);
  const undead_mapping *mapping = undead_mapping_of(address);
  if (!mapping || !mapping->readable) return 0;
  size_t available = mapping->high - address;
  return available < most ? available : most;
}

bool undead_is_executable(uintptr_t address) {
  const undead_mapping *mapping = undead_mapping_of(address);
  return mapping && mapping->executable;
}

typedef struct {
  bool (*visit)(void *context, const undead_mapping *mapping);
  void *context;
} mapping_visit;

static bool visit_mapping(void *context, const undead_maps_line *line) {
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

static bool match_path(void *context, const undead_maps_line *line) {
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
