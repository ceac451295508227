// Which scopes of a test threads still worked in when the last check looked.
#include "session/check/check.h"
#include "platform/memory/own_data.h"
#include "undead_assertions.h"
#include <string.h>

// Written and read under the lock of checks.
static uint32_t held_scopes[UNDEAD_MOST_THREAD_SCOPES], held_count;

void undead_held_scopes_note(const undead_scan_result *result) {
  held_count = result->thread_scope_count;
  memcpy(held_scopes, result->thread_scopes, held_count * sizeof(*held_scopes));
}

uint32_t undead_scopes_held_by_threads(uint32_t *scopes, uint32_t max) {
  uint32_t count = held_count < max ? held_count : max;
  memcpy(scopes, held_scopes, count * sizeof(*scopes));
  return count;
}
