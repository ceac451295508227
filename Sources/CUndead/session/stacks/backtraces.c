#include "undead_backtraces.h"
#include "record/gate.h"
#include "record/mode.h"
#include "record/registry.h"
#include "record/sample.h"
#include "unwind/backtrace.h"
#include "unwind/pc_table.h"
#include <errno.h>
#include <string.h>

static uint32_t frames_of(uint32_t id, uintptr_t *frames, uint32_t max) {
  return id > UNDEAD_BACKTRACE_NONE ? undead_backtrace_frames(id, frames, max) : 0;
}

uint32_t undead_allocation_backtrace(const void *block, uintptr_t *frames, uint32_t max) {
  const uint32_t *slot = undead_registry_slot((uintptr_t)block);
  if (undead_record_mode == UNDEAD_RECORD_SAMPLED) return undead_sample_frames((uintptr_t)block, frames, max);
  return slot ? frames_of(__atomic_load_n(slot, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE, frames, max) : 0;
}

typedef struct {
  uintptr_t *frames;
  uint32_t max, count;
} walked_frames;

static void copy_walked(void *context, const uint32_t *indices, uint32_t count) {
  walked_frames *self = context;
  self->count = count < self->max ? count : self->max;
  for (uint32_t i = 0; i < self->count; i++) self->frames[i] = undead_pcs[indices[i]].pc;
}

// `frame`: of the caller of this function, a saved frame pointer and above it the address to which it returns.
static uint32_t walk_from_frame(const uintptr_t *frame, uintptr_t *frames, uint32_t max) {
  int saved_errno = errno;
  walked_frames walked = {frames, max, 0};
  undead_hook_enter();
  undead_backtrace_walk(frame[1], (uintptr_t)(frame + 2), frame[0], copy_walked, &walked);
  undead_hook_leave();
  errno = saved_errno;
  return walked.count;
}

// Without libunwind, by our own rules.
__attribute__((noinline)) uint32_t undead_exact_backtrace(uintptr_t *frames, uint32_t max) {
  const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
  int saved_errno = errno;
  undead_thread.ignored++;
  undead_backtrace_load_libunwind();
  undead_thread.ignored--;
  uint32_t found = undead_backtrace_libunwind(frames, max), inner = 0;
  errno = saved_errno;
  while (inner < found && frames[inner] != caller) inner++;
  if (inner == found) return walk_from_frame(__builtin_frame_address(0), frames, max);
  memmove(frames, frames + inner, (found - inner) * sizeof *frames);
  return found - inner;
}

__attribute__((noinline)) uint32_t undead_caller_backtrace(uintptr_t *frames, uint32_t max) {
  if (undead_record_mode < UNDEAD_RECORD_BACKTRACES) return 0;
  const uintptr_t *frame = __builtin_frame_address(0);
  // A store that is thrown away now and then, and caches of threads, are for what is asked for often.
  if (undead_record_mode == UNDEAD_RECORD_SAMPLED) return walk_from_frame(frame, frames, max);
  int saved_errno = errno;
  undead_hook_enter();
  uint32_t id = undead_backtrace_capture(frame[1], (uintptr_t)(frame + 2), frame[0]);
  undead_hook_leave();
  uint32_t count = frames_of(id, frames, max);
  errno = saved_errno;
  return count;
}
