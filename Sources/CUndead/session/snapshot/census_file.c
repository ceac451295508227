#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/snapshot/census_file.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "runtime/layout.h"
#include "scan/census.h"
#include "session/snapshot/snapshot.h"
#include "session/state/state_file.h"
#include "session/buffers/text.h"

typedef struct {
  uint32_t type, unused;
  uint64_t count, bytes;
} census_line;
_Static_assert(sizeof(census_line) == 24, "the layout is a contract");

// A copy of the program fills it in.
typedef struct {
  undead_census census;
  undead_census_entry entries[UNDEAD_CENSUS_TYPES];
} shared_census;

static void learn_layouts(const undead_census *census) {
  static uintptr_t isas[UNDEAD_CENSUS_TYPES];
  uint32_t count = 0;
  for (size_t i = 0; i < UNDEAD_CENSUS_TYPES; i++)
    if (census->entries[i].isa > UNDEAD_CENSUS_SIDE_TABLES) isas[count++] = census->entries[i].isa;
  undead_layouts_add(isas, count);
}

static void count(undead_check *check, shared_census *shared) {
  shared->census.entries = shared->entries;
  check->options.census = &shared->census;
  undead_scan_result *result = undead_scan(&check->options);
  if (!result || result->error != UNDEAD_SCAN_OK) {
    undead_text_copy(check->message, sizeof(check->message), result ? result->message : "there is no memory for the count");
  } else {
    learn_layouts(&shared->census);
    check->succeeded = undead_snapshot_make(check, result);
  }
  if (result) undead_scan_free(result);
  check->options.census = NULL;
}

void undead_census_on_request(undead_check *check) {
  if (!undead_snapshot_begin(check)) return;
  check->options.counts_only = true;
  check->options.suspects = false;
  shared_census *shared = undead_map_shared(sizeof *shared);
  if (shared) count(check, shared);
  else undead_text_copy(check->message, sizeof(check->message), "there is no memory for the count");
  if (shared) undead_unmap(shared, sizeof *shared);
  undead_snapshot_end(check);
}

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
#endif
