#include "session/snapshot/snapshot.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "runtime/layout.h"
#include "scan/census.h"
#include "session/buffers/buffers.h"

// A copy of the program fills it in.
typedef struct {
  undead_census census;
  undead_census_entry entries[UNDEAD_CENSUS_TYPES];
} shared_census;

bool undead_census_begin(undead_check *check) {
  shared_census *shared = undead_map_shared(sizeof *shared);
  if (!shared) return false;
  shared->census.entries = shared->entries;
  check->options.census = &shared->census;
  check->counts_types = true;
  check->options.counts_only = true;
  check->options.suspects = false;
  return true;
}

void undead_census_learn(const undead_check *check) {
  const undead_census *census = check->options.census;
  static uintptr_t isas[UNDEAD_CENSUS_TYPES];
  uint32_t count = 0;
  for (size_t i = 0; i < UNDEAD_CENSUS_TYPES; i++)
    if (census->entries[i].isa > UNDEAD_CENSUS_SIDE_TABLES) isas[count++] = census->entries[i].isa;
  undead_layouts_add(isas, count);
}

static void count(undead_check *check) {
  undead_scan_result *result = undead_scan(&check->options);
  if (!result || result->error != UNDEAD_SCAN_OK) {
    undead_text_copy(check->message, sizeof(check->message), result ? result->message : "there is no memory for the count");
  } else {
    undead_census_learn(check);
    check->succeeded = undead_snapshot_make(check, result);
  }
  if (result) undead_scan_free(result);
}

static void end_census(undead_check *check) {
  if (check->options.census) undead_unmap(check->options.census, sizeof(shared_census));
  check->options.census = NULL;
}

void undead_census_on_request(undead_check *check) {
  if (!undead_snapshot_begin(check)) return;
  if (undead_census_begin(check)) count(check);
  else undead_text_copy(check->message, sizeof(check->message), "there is no memory for the count");
  end_census(check);
  undead_snapshot_end(check);
}
