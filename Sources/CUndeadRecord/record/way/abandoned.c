#include "record/abandoned.h"
#include "unwind/backtrace.h"
#include "unwind/pc_table.h"
#include "unwind/store/stack.h"
#include <errno.h>
#include <signal.h>

// The code that may be abandoned (gate.h).
#pragma GCC visibility push(hidden)
extern const char __start_undead_code[], __stop_undead_code[];
#pragma GCC visibility pop

// A frame is known by its pointer; what stands above that: the saved frame pointer and the return address.
static uintptr_t end_of(uintptr_t frame) { return frame + 2 * sizeof(uintptr_t); }

bool undead_is_on_own_stack(uintptr_t address) { return undead_stack_covers(&undead_thread, address); }

static bool is_on_alternate_stack(void) {
  stack_t stack;
  int saved = errno;
  bool known = sigaltstack(NULL, &stack) == 0;
  errno = saved;
  return !known || stack.ss_flags & SS_ONSTACK;
}

// Without exact frames: what is deeper in the same stack than where the thread stands was left.
static bool is_deeper(undead_thread_state *thread, uintptr_t function, uintptr_t sp) {
  return thread == &undead_thread && sp >= end_of(function) && undead_stack_covers(thread, function) &&
         undead_stack_covers(thread, sp) && !is_on_alternate_stack();
}

bool undead_is_under_way(undead_thread_state *thread, uintptr_t function, undead_frame at) {
  if (undead_pc_table_prepare()) {
    undead_frame_fate fate = undead_walk_looks_for(
        thread, at, end_of(function), (uintptr_t)__start_undead_code, (uintptr_t)__stop_undead_code);
    if (fate != UNDEAD_FRAME_UNCERTAIN) return fate == UNDEAD_FRAME_FOUND;
  }
  return !is_deeper(thread, function, at.sp);
}

bool undead_hook_is_under_way(undead_thread_state *thread, undead_frame at) {
  uintptr_t hook = __atomic_load_n(&thread->in_hook, __ATOMIC_RELAXED);
  return hook && undead_is_under_way(thread, hook, at);
}

static void forget(void) {
  undead_thread_state *thread = &undead_thread;
  thread->ignored = 0;   // the tool's own threads get no signals
  thread->asks_scope = 0;
  thread->unscoped = 0;
  thread->abandoned_hooks++;
  undead_backtrace_abandoned();
}

bool undead_hook_settle(undead_frame at) {
  if (undead_hook_is_under_way(&undead_thread, at)) return true;
  if (!undead_thread.in_hook) return false;
  forget();
  undead_thread.in_hook = 0;
  return false;
}

void undead_hook_enter_again(const uintptr_t *frame) {
  // What runs at the very place of the old one's frame has replaced it.
  bool replaced = undead_thread.in_hook == (uintptr_t)frame;
  undead_frame caller = {frame[1], end_of((uintptr_t)frame), frame[0]};
  if (!replaced && undead_hook_is_under_way(&undead_thread, caller)) return;
  forget();
  undead_thread.in_hook = (uintptr_t)frame;
}
