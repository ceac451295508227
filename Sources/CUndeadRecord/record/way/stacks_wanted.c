#include "record/mode.h"
#include "platform/system/environment.h"
#include <string.h>

undead_stacks undead_record_stacks_wanted(void) {
  const char *wanted = undead_setting("UNDEAD_STACKS");
  if (!wanted || !*wanted) return undead_setting("UNDEAD_SAMPLE") ? UNDEAD_STACKS_SAMPLED : UNDEAD_STACKS_FULL;
  if (strcmp(wanted, "none") == 0) return UNDEAD_STACKS_NONE;
  if (strcmp(wanted, "sampled") == 0) return UNDEAD_STACKS_SAMPLED;
  return UNDEAD_STACKS_FULL;
}
