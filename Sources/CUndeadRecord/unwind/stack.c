#include "unwind/stack.h"
#include "platform/memory.h"

// Outermost end of the main thread's stack; exported by the dynamic loader.
extern void *__libc_stack_end;

#define PAGE 4096u
#define MAX_STEP (64u << 20)   // a stack does not grow by more between two allocations

// glibc puts a thread's descriptor at the top of its stack, above the first frame; the main thread's descriptor is
// below the main stack.
static uintptr_t outer_end(uintptr_t sp) {
  uintptr_t descriptor = (uintptr_t)__builtin_thread_pointer();
  return sp < descriptor ? descriptor : (uintptr_t)__libc_stack_end;
}

bool undead_stack_extend(undead_thread_state *thread, uintptr_t sp) {
  if (!thread->stack_high) {
    uintptr_t high = outer_end(sp);
    if (sp >= high) return false;
    thread->stack_low = high;
    thread->stack_high = high;
  }
  if (sp >= thread->stack_high || sp < thread->stack_barrier || thread->stack_low - sp > MAX_STEP) return false;
  while (thread->stack_low > sp) {
    uintptr_t page = (thread->stack_low - 1) & ~(uintptr_t)(PAGE - 1);
    if (!undead_page_is_readable(page)) {
      // A guard page: what lies beyond is not this stack, and needs not be asked for again.
      thread->stack_barrier = page + PAGE;
      return false;
    }
    thread->stack_low = page;
  }
  return true;
}
