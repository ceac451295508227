#include "session/sections/snapshot_sections.h"
#include "scan/census.h"

typedef struct {
  uint32_t type, unused;
  uint64_t count, bytes;
} census_line;
_Static_assert(sizeof(census_line) == 24, "the layout is a contract");

// Of the type alone, without an object: what differs from one object of it to the next has no name here.
static uint32_t type_of(undead_writer *writer, const undead_census_entry *entry) {
  if (entry->isa == UNDEAD_CENSUS_MEMORY) return UNDEAD_NO_INDEX;
  undead_node node = {.isa = entry->isa, .kind = (uint8_t)entry->kind, .state = UNDEAD_STATE_LIVE};
  undead_scan_result one = {.nodes = &node, .node_count = 1};
  return undead_table_type(&writer->tables, &one, 0);
}

void undead_census_write(undead_writer *writer, const undead_check *check) {
  const undead_census *census = check->options.census;
  if (!check->options.counts_only || !census) return;
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_CENSUS, sizeof(census_line));
  for (size_t i = 0; i < UNDEAD_CENSUS_TYPES; i++) {
    const undead_census_entry *entry = &census->entries[i];
    if (!entry->isa) continue;
    census_line line = {.type = type_of(writer, entry), .count = entry->objects, .bytes = entry->bytes};
    undead_section_add(writer, section, &line);
  }
}
