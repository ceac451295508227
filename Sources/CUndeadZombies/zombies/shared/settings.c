#include "platform/system/environment.h"
#include "platform/system/read_text.h"
#include "zombies/shared/settings.h"
#include <string.h>

static bool read_number(const char *variable, uint64_t *number) { return undead_read_bytes(undead_setting(variable), number); }

static const char *text_of(const char *variable) {
  const char *text = undead_setting(variable);
  return text ? text : "";
}

bool undead_zombie_options_of_environment(undead_zombie_options *options) {
  const char *wanted = undead_setting("UNDEAD_ZOMBIES");
  if (!wanted || !*wanted || strcmp(wanted, "0") == 0) return false;
  undead_zombie_default_options(options);
  options->guard = strcmp(wanted, "guard") == 0;
  uint64_t number;
  if (strcmp(wanted, "sampled") == 0) {
    if (!read_number("UNDEAD_ZOMBIE_RATE", &number) || !number || number > UINT32_MAX) number = UNDEAD_ZOMBIE_RATE_DEFAULT;
    undead_zombie_sampled_options(options, (uint32_t)number);
  }
  if (read_number("UNDEAD_ZOMBIE_BYTES", &number)) options->budget.bytes = number;
  if (read_number("UNDEAD_ZOMBIE_COUNT", &number)) options->budget.count = number;
  if (read_number("UNDEAD_ZOMBIE_AGE", &number)) options->budget.age_milliseconds = number;
  if (read_number("UNDEAD_ZOMBIE_REPEATS", &number))
    options->repeats = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
  if (strcmp(text_of("UNDEAD_ZOMBIE_POLICY"), "report") == 0) options->policy = UNDEAD_ZOMBIE_REPORT;
  if (strcmp(text_of("UNDEAD_ZOMBIE_POLICY"), "trap") == 0) options->policy = UNDEAD_ZOMBIE_TRAP;
  options->allow = text_of("UNDEAD_ZOMBIE_ALLOW");
  options->deny = text_of("UNDEAD_ZOMBIE_DENY");
  options->guard_types = text_of(options->sample ? "UNDEAD_ZOMBIE_TYPES" : "UNDEAD_ZOMBIE_GUARD");
  return true;
}
