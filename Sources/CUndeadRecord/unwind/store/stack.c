#include "unwind/store/stack.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include <sys/syscall.h>

// Outermost end of the main thread's stack; exported by the dynamic loader.
extern void *__libc_stack_end;

#define MAX_STEP (64u << 20)   // a stack does not grow by more between two allocations

// glibc puts a thread's descriptor at the top of its stack, above the first frame. The main thread's lies elsewhere: perhaps
// above a stack that is not the thread's own.
static uintptr_t outer_end(void) {
  bool is_main = undead_raw3(SYS_gettid, 0, 0, 0) == undead_raw3(SYS_getpid, 0, 0, 0);
  return is_main ? (uintptr_t)__libc_stack_end : (uintptr_t)__builtin_thread_pointer();
}

// The last bytes of a stack do not count as covered: there is no room for the fast way there.
#define END_MARGIN 2048u

// Not for the main thread's stack, which grows.
static void look_for_end(undead_thread_state *thread) {
  bool grows = thread->stack_high == (uintptr_t)__libc_stack_end;
  if (grows || thread->stack_barrier || undead_page_is_readable(thread->stack_low - UNDEAD_PAGE)) return;
  thread->stack_barrier = thread->stack_low + END_MARGIN;
  thread->stack_low += END_MARGIN;
}

bool undead_stack_extend(undead_thread_state *thread, uintptr_t sp) {
  if (!thread->stack_high) {
    uintptr_t high = outer_end();
    thread->stack_low = high;
    thread->stack_high = high;
  }
  if (sp >= thread->stack_high || sp < thread->stack_barrier || thread->stack_low - sp > MAX_STEP) return false;
  while (thread->stack_low > sp) {
    uintptr_t page = undead_page_of(thread->stack_low - 1);
    if (!undead_page_is_readable(page)) {
      // A guard page: what lies beyond is not this stack, and needs not be asked for again.
      thread->stack_barrier = page + UNDEAD_PAGE;
      return false;
    }
    thread->stack_low = page;
  }
  look_for_end(thread);
  return sp >= thread->stack_low;
}

bool undead_stack_has_room(undead_thread_state *thread, uintptr_t bytes) {
  uintptr_t sp = (uintptr_t)__builtin_frame_address(0), low = sp - bytes;
  if (!undead_stack_covers(thread, sp)) return false;
  while (low < thread->stack_low) {
    uintptr_t page = undead_page_of(thread->stack_low - 1);
    if (page < thread->stack_barrier || !undead_page_is_readable(page)) return false;
    thread->stack_low = page;
  }
  return true;
}
