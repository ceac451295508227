// The public function that counts live objects.
#include "scan/census.h"
#include "undead.h"
#include "undead_assertions.h"
#include "platform/memory/memory.h"
#include "session/check/check.h"
#include "session/buffers/buffers.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define TABLE_BYTES (UNDEAD_CENSUS_TYPES * sizeof(undead_census_entry))

// Moves the entries in use to the front; returns their number.
static size_t pack(undead_census_entry *entries) {
  size_t count = 0;
  for (size_t i = 0; i < UNDEAD_CENSUS_TYPES; i++)
    if (entries[i].isa) entries[count++] = entries[i];
  return count;
}

static bool take(undead_check *check, undead_census *census) {
  undead_text_copy(check->trigger, sizeof(check->trigger), "api");
  check->options.mode = UNDEAD_SCAN_IN_PLACE;
  check->options.census = census;
  return undead_check_start(check) && undead_check_wait(check) && check->succeeded;
}

undead_census_entry *undead_census_take(const uint32_t *scopes, uint32_t scope_count, size_t *count, char *message,
                                        size_t message_size) {
  int saved_errno = errno;
  undead_census census = {.scopes = scopes, .scope_count = scope_count};
  if (scope_count > UNDEAD_CENSUS_SCOPES) census.scope_count = UNDEAD_CENSUS_SCOPES;
  undead_check *check = undead_is_active() ? undead_check_claim() : NULL;
  *count = 0;
  undead_text_copy(message, message_size, check ? "there is no memory for the count" : undead_inactive_reason());
  census.entries = check ? undead_map(TABLE_BYTES) : NULL;
  bool taken = census.entries && take(check, &census);
  if (census.entries && !taken) undead_text_copy(message, message_size, check->message);
  if (check) undead_check_release(check);
  if (taken) *count = pack(census.entries);
  else if (census.entries) undead_unmap(census.entries, TABLE_BYTES);
  errno = saved_errno;
  return taken ? census.entries : NULL;
}

void undead_avoid_dangling(void) {
  int saved_errno = errno;
  undead_census none = {0};
  undead_check *check = undead_is_active() ? undead_check_claim() : NULL;
  if (check) take(check, &none);
  if (check) undead_check_release(check);
  errno = saved_errno;
}

void undead_census_release(undead_census_entry *entries) {
  if (entries) undead_unmap(entries, TABLE_BYTES);
}
