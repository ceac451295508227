#include "unwind/capture/odd_x86_64.h"
#include <ucontext.h>

_Static_assert(REG_RIP == REG_RSP + 1, "the address is behind the stack pointer in a signal's frame");

// All that is read lies between the hook's own frame and the end of the stack.
static bool lies_within(uintptr_t start, size_t bytes, uintptr_t sp, uintptr_t stack_high) {
  return start >= sp && start < stack_high && stack_high - start >= bytes && (start & 7) == 0;
}

// Frames only go up: who interrupted another stack is none of this one.
static bool is_outside(uintptr_t outer, uintptr_t sp, uintptr_t stack_high) {
  return outer > sp && lies_within(outer - 8, 8, sp, stack_high);
}

static undead_odd_step step_odd_signal(undead_frame *frame, undead_link *link, uintptr_t stack_high) {
  if (!lies_within(frame->sp, sizeof(ucontext_t), frame->sp, stack_high)) return UNDEAD_ODD_LOST;
  const uintptr_t *registers = (const uintptr_t *)((const ucontext_t *)frame->sp)->uc_mcontext.gregs;
  if (!is_outside(registers[REG_RSP], frame->sp, stack_high)) return UNDEAD_ODD_LOST;
  *link = (undead_link){&registers[REG_RBP], (uintptr_t)&registers[REG_RSP] | UNDEAD_LINK_SIGNAL};
  *frame = (undead_frame){registers[REG_RIP] + 1, registers[REG_RSP], registers[REG_RBP]};
  return UNDEAD_ODD_STEPPED;
}

static undead_odd_step step_odd_realigned(undead_frame *frame, undead_link *link, undead_rule rule, uintptr_t stack_high) {
  uintptr_t slot = frame->bp - undead_rule_offset(rule);
  if (!lies_within(slot, 8, frame->sp, stack_high) || !lies_within(frame->bp, 8, frame->sp, stack_high))
    return UNDEAD_ODD_LOST;
  uintptr_t cfa = *(const uintptr_t *)slot;
  if (!is_outside(cfa, frame->sp, stack_high)) return UNDEAD_ODD_LOST;
  *link = (undead_link){(const uintptr_t *)frame->bp, slot};
  *frame = (undead_frame){((const uintptr_t *)cfa)[-1], cfa, *(const uintptr_t *)frame->bp};
  return UNDEAD_ODD_STEPPED;
}

static undead_odd_step step_odd_foreign(undead_frame *frame, undead_link *link, uintptr_t stack_high) {
  if (!undead_is_frame_pointer(frame)) return UNDEAD_ODD_END;
  const uintptr_t *bp = (const uintptr_t *)frame->bp;
  if (!lies_within(frame->bp, 16, frame->sp, stack_high)) return UNDEAD_ODD_LOST;
  *link = (undead_link){bp, 0};
  *frame = (undead_frame){bp[1], frame->bp + 16, bp[0]};
  return UNDEAD_ODD_STEPPED;
}

undead_odd_step undead_step_odd(undead_frame *frame, undead_link *link, undead_rule rule, uintptr_t stack_high) {
  if (undead_rule_is_end(rule)) return UNDEAD_ODD_END;
  switch ((int)undead_rule_kind(rule)) {
  case UNDEAD_RULE_SIGNAL: return step_odd_signal(frame, link, stack_high);
  case UNDEAD_RULE_DEREF: return step_odd_realigned(frame, link, rule, stack_high);
  case UNDEAD_RULE_FOREIGN: return step_odd_foreign(frame, link, stack_high);
  default: return UNDEAD_ODD_LOST;
  }
}
