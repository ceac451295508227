#include "undead_backtraces.h"
#include "record/gate.h"
#include "record/mode.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include <errno.h>

static uint32_t frames_of(uint32_t id, uintptr_t *frames, uint32_t max) {
  return id > UNDEAD_BACKTRACE_NONE ? undead_backtrace_frames(id, frames, max) : 0;
}

uint32_t undead_allocation_backtrace(const void *block, uintptr_t *frames, uint32_t max) {
  const uint32_t *slot = undead_registry_slot((uintptr_t)block);
  return slot ? frames_of(__atomic_load_n(slot, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE, frames, max) : 0;
}

uint32_t undead_caller_backtrace(uintptr_t *frames, uint32_t max) {
  if (undead_record_mode < UNDEAD_RECORD_BACKTRACES) return 0;
  int saved_errno = errno;
  // A saved frame pointer, and above it the address to which this function returns.
  const uintptr_t *frame = __builtin_frame_address(0);
  undead_hook_enter();
  uint32_t id = undead_backtrace_capture(frame[1], (uintptr_t)(frame + 2), frame[0]);
  undead_hook_leave();
  uint32_t count = frames_of(id, frames, max);
  errno = saved_errno;
  return count;
}
