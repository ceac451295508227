// One frame outwards by a rule that is not plain: realigned frames, signal frames, code without unwind information. The
// words that are read for it are kept as checks like those of plain rules.
#pragma once
#include "unwind/capture/known_x86_64.h"

#pragma GCC visibility push(hidden)

typedef enum {
  UNDEAD_ODD_LOST,      // not by the rules, or out of the stack
  UNDEAD_ODD_STEPPED,
  UNDEAD_ODD_END,       // the frame is the outermost
} undead_odd_step;

undead_odd_step undead_step_odd(undead_frame *frame, undead_link *link, undead_rule rule, uintptr_t stack_high);

// In `sp_slot`: the frame was interrupted. Its next instruction stands behind its stack pointer in the signal's frame.
#define UNDEAD_LINK_SIGNAL (uintptr_t)1

INLINE undead_odd_step step_any(undead_frame *frame, undead_link *link, undead_rule rule, uintptr_t stack_high) {
  if (UNLIKELY(!is_plain(rule))) return undead_step_odd(frame, link, rule, stack_high);
  return LIKELY(step(frame, link, rule, stack_high)) ? UNDEAD_ODD_STEPPED : UNDEAD_ODD_LOST;
}

// Writes the words that led to `frame`; where its rbp was only if that matters (`bp_mask`). Returns the end.
INLINE undead_check *write_link(undead_check *check, const undead_frame *frame, const undead_link *link,
                                uintptr_t bp_mask) {
  const uintptr_t *pc_slot = (const uintptr_t *)frame->sp - 1;
  uintptr_t pc = frame->pc;
  if (UNLIKELY(link->sp_slot != 0)) {
    const uintptr_t *sp_slot = (const uintptr_t *)(link->sp_slot & ~UNDEAD_LINK_SIGNAL);
    *check++ = (undead_check){sp_slot, frame->sp};
    if (link->sp_slot & UNDEAD_LINK_SIGNAL) {
      pc_slot = sp_slot + 1;
      pc--;
    }
  }
  *check++ = (undead_check){pc_slot, pc};
  if (link->bp_slot && bp_mask) *check++ = (undead_check){link->bp_slot, frame->bp};
  return check;
}
#define UNDEAD_LINK_CHECKS 3u   // at most

#pragma GCC visibility pop
