#pragma once
#include "record/mode.h"
#include "record/registry.h"
#include "record/sample.h"
#include "unwind/backtrace.h"
#include <stdbool.h>

// True for a block that is recorded with more than `depth` frames. Where backtraces are sampled most blocks have none.
static inline bool is_recorded(const void *block, uint32_t depth) {
  uintptr_t frames[64];
  uint32_t *slot = undead_registry_slot((uintptr_t)block);
  if (undead_record_mode != UNDEAD_RECORD_SAMPLED)
    return slot && *slot > UNDEAD_BACKTRACE_NONE && undead_backtrace_frames(*slot, frames, 64) > depth;
  uint32_t found = undead_sample_frames((uintptr_t)block, frames, 64);
  return undead_registry_knows((uintptr_t)block) && (!found || found > depth);
}
