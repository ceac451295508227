#include "undead_supported.h"
#if UNDEAD_SUPPORTED && defined(__aarch64__)
// Untested on hardware.
#include "world/helper/clone.h"
#include "platform/processor/processor.h"
#include <sched.h>

long undead_clone_on_stack(unsigned long more_flags, void *stack_top, uint32_t *tid, int (*entry)(void *)) {
  unsigned long flags = CLONE_VM | CLONE_FS | CLONE_UNTRACED | CLONE_CHILD_CLEARTID | more_flags;
  uintptr_t *stack = (uintptr_t *)((uintptr_t)stack_top & ~(uintptr_t)15);
  *--stack = 0;
  *--stack = (uintptr_t)entry;
  // The kernel takes the thread pointer before the child's tid: the other way round than on x86-64.
  register long x8 __asm__("x8") = SYS_clone;
  register long x0 __asm__("x0") = (long)flags;
  register long x1 __asm__("x1") = (long)stack;
  register long x2 __asm__("x2") = (long)tid;
  register long x3 __asm__("x3") = 0;
  register long x4 __asm__("x4") = (long)tid;
  __asm__ volatile(
    "svc #0\n\t"
    "cbnz x0, 1f\n\t"
    "mov x29, xzr\n\t"
    "mov x30, xzr\n\t"
    "ldp x9, x0, [sp], #16\n\t"
    "blr x9\n\t"
    "mov x8, %[leave]\n\t"
    "svc #0\n\t"
    "brk #1\n"
    "1:"
    : "+r"(x0)
    : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), [leave] "i"(SYS_exit_group)
    : "x9", "x30", "memory", "cc");
  return x0;
}
#endif
