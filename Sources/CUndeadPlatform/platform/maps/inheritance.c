#include "platform/maps/inheritance.h"
#include "platform/maps/maps_internal.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include <errno.h>
#include <string.h>

typedef struct {
  uintptr_t low, high;
} range;

static range *lost;
static size_t lost_count, lost_capacity;

static bool add_lost(uintptr_t low, uintptr_t high) {
  if (lost_count == lost_capacity && !undead_grow(lost, lost_capacity, 256)) return false;
  lost[lost_count++] = (range){low, high};
  return true;
}

// The lines of /proc/PID/smaps: one as in the map, then "Name: value" for each property, "VmFlags:" among them.
typedef struct {
  undead_maps_line line;   // whose properties follow
  bool (*visit)(void *context, const undead_maps_line *line, bool inherited);
  void *context;
} flag_visit;

static bool visit_flags(void *context, const char *text, const char *end) {
  flag_visit *wanted = context;
  static const char flags[] = "VmFlags:";
  if (end - text < (ptrdiff_t)sizeof flags || memcmp(text, flags, sizeof flags - 1)) {
    undead_maps_line line = {0};
    if (undead_maps_parse(text, end, &line)) wanted->line = line;
    return true;
  }
  bool inherited = true;
  while ((text = undead_maps_next_field(text, end)) + 2 <= end)
    inherited &= memcmp(text, "dc", 2) && memcmp(text, "wf", 2);
  return wanted->visit(wanted->context, &wanted->line, inherited);
}

static bool each_with_flags(bool (*visit)(void *context, const undead_maps_line *line, bool inherited), void *context) {
  int saved = errno;
  flag_visit wanted = {.visit = visit, .context = context};
  bool ok = undead_smaps_each_line(visit_flags, &wanted);
  errno = saved;
  return ok;
}

typedef struct {
  size_t seen;
  bool no_memory;
} learning;

static bool learn(void *context, const undead_maps_line *line, bool inherited) {
  learning *self = context;
  self->seen++;
  self->no_memory = !inherited && !add_lost(line->mapping.low, line->mapping.high);
  return !self->no_memory;
}

bool undead_inheritance_learn(void) {
  learning self = {0};
  lost_count = 0;
  return each_with_flags(learn, &self) && self.seen && !self.no_memory;
}

void undead_inheritance_note(void) {
  size_t next = 0;
  for (size_t i = 0; i < undead_mapping_count(); i++) {
    undead_mapping *mapping = undead_mapping_slot(i);
    while (next < lost_count && lost[next].high <= mapping->low) next++;
    mapping->not_inherited = next < lost_count && lost[next].low < mapping->high;
  }
}

typedef struct {
  size_t next;     // mapping to be found
  range run;       // of neighbouring mappings that were inherited
} comparison;

static bool is_found(const comparison *self, const undead_mapping *mapping) {
  if (mapping->not_inherited || mapping->what == UNDEAD_MAPPED_KERNEL) return true;
  return mapping->low >= self->run.low && mapping->high <= self->run.high;
}

static bool compare(void *context, const undead_maps_line *line, bool inherited) {
  comparison *self = context;
  if (!inherited) return true;
  if (line->mapping.low != self->run.high) self->run.low = line->mapping.low;
  self->run.high = line->mapping.high;
  while (self->next < undead_mapping_count() && is_found(self, undead_mapping_at(self->next))) self->next++;
  return true;
}

bool undead_inheritance_held(void) {
  comparison self = {0};
  if (!each_with_flags(compare, &self)) return false;
  while (self.next < undead_mapping_count() && is_found(&self, undead_mapping_at(self.next))) self.next++;
  return self.next == undead_mapping_count();
}
