// System calls without libc: no errno, no cancellation point. For the helper, its copies and signal handlers.
#pragma once
#include <stdint.h>
#include <sys/syscall.h>

#if !defined(__x86_64__) || !defined(__linux__)
#error "stopping the world is implemented for Linux on x86-64 only"
#endif

static inline long undead_raw6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static inline long undead_raw4(long number, long a, long b, long c, long d) {
  return undead_raw6(number, a, b, c, d, 0, 0);
}

static inline long undead_raw3(long number, long a, long b, long c) { return undead_raw6(number, a, b, c, 0, 0, 0); }

static inline uintptr_t undead_thread_pointer(void) {
  uintptr_t pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}
