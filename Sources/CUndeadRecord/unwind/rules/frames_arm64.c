#include "undead_supported.h"
#if UNDEAD_SUPPORTED && defined(__aarch64__)
// Backtraces on arm64, by the frame records that compilers leave there (AAPCS64, 6.4.6): {frame pointer of the caller, return
// address}, linked from the frame pointer. Untested on hardware. Where a frame begins and ends a record does not say: so nothing is
// known of frames that are walked to be excluded, and all of a stack counts.
#include "platform/memory/memory.h"
#include "unwind/backtrace.h"
#include "unwind/rules/images.h"
#include "unwind/rules/libunwind.h"
#include "unwind/settings.h"
#include "unwind/store/stack.h"
#include "unwind/store/store.h"
#include "unwind/walk_x86_64.h"

#define MOST_FRAME_BYTES (64ull << 20)

static bool is_readable(undead_thread_state *thread, uintptr_t record) {
  if (thread && undead_stack_covers(thread, record) && record + 15 < thread->stack_high) return true;
  return undead_page_is_readable(record);   // aligned, so on one page
}

// A return address may be signed (pointer authentication): the instruction is a hint, which older processors pass by.
static uintptr_t without_signature(uintptr_t address) {
  register uintptr_t x30 __asm__("x30") = address;
  __asm__("hint #7" : "+r"(x30));   // xpaclri
  return x30;
}

// `sp` is what the frame is above, not where it begins.
static bool step(undead_thread_state *thread, undead_frame *frame) {
  uintptr_t record = frame->bp;
  if (!record || record % 16 || record < frame->sp || record - frame->sp > MOST_FRAME_BYTES) return false;
  if (!is_readable(thread, record)) return false;
  const uintptr_t *words = (const uintptr_t *)record;
  *frame = (undead_frame){without_signature(words[1]), record + 16, words[0]};
  return frame->pc != 0;
}

undead_walk_end undead_walk(undead_thread_state *thread, undead_frame frame, uint32_t *indices, uint32_t max,
                            uint32_t *count) {
  undead_rule unused;
  // A frame is above the one that it called: its record may lie below the place that it returned to.
  frame.sp = frame.bp < frame.sp ? frame.bp : frame.sp;
  for (*count = 0; *count < max;) {
    uint32_t index = undead_pc_find(frame.pc, &unused);
    if (index == UNDEAD_PC_NONE) return UNDEAD_WALK_LOST;
    indices[(*count)++] = index;
    if (!step(thread, &frame)) return UNDEAD_WALK_COMPLETE;
  }
  return UNDEAD_WALK_DEEP;
}

undead_frame_fate undead_walk_looks_for(undead_thread_state *thread, undead_frame frame, uintptr_t sp, uintptr_t low,
                                        uintptr_t high) {
  (void)thread, (void)frame, (void)sp, (void)low, (void)high;
  return UNDEAD_FRAME_UNCERTAIN;
}

undead_step undead_walk_step(undead_frame *frame) {
  (void)frame;
  return UNDEAD_STEP_LOST;
}

undead_rule undead_rule_compute(uintptr_t pc) {
  (void)pc;
  return undead_rule_make(UNDEAD_RULE_SPECIAL, 0, UNDEAD_RULE_UNKNOWN);
}

uint32_t undead_backtrace_capture(uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  uint32_t indices[UNDEAD_DEPTH_LIMIT], found = 0;
  if (!undead_pc_table_prepare() || !undead_store_prepare()) return undead_backtrace_none;
  undead_stack_covers(&undead_thread, sp);
  undead_walk(&undead_thread, (undead_frame){pc, sp, bp}, indices, UNDEAD_DEPTH_LIMIT, &found);
  uint32_t id = found ? undead_store_add(indices, found) : 0;
  return id ? id : undead_backtrace_none;
}

bool undead_backtrace_walk(uintptr_t pc, uintptr_t sp, uintptr_t bp, undead_walked_function use, void *context) {
  uint32_t indices[UNDEAD_DEPTH_LIMIT], found = 0;
  if (!undead_pc_table_prepare()) return false;
  undead_walk(&undead_thread, (undead_frame){pc, sp, bp}, indices, UNDEAD_DEPTH_LIMIT, &found);
  use(context, indices, found);
  return true;
}

void undead_backtrace_forget_images(void) {
  undead_images_forget(undead_pc_table_retire);
  undead_libunwind_images_unloaded();
}

void undead_backtrace_forget_runs(void) {}
void undead_backtrace_abandoned(void) {}
void undead_backtrace_after_fork_in_child(void) { undead_libunwind_forbid(); }
#endif
