// arm64, for processor.h. Untested on hardware: Documentation/platforms.md. Layouts of threads are glibc's
// (sysdeps/aarch64/nptl/tls.h): a descriptor ends where the thread pointer points to, at {dynamic thread vector, a word}, and
// behind them is thread-local storage of the images that were there at the start.
#pragma once

#define UNDEAD_ADDRESS_BITS 48   // of a program (Documentation/arch/arm64/memory.rst of the kernel), which asks for no more
#define UNDEAD_RED_ZONE 0        // nothing below the stack pointer (AAPCS64, 6.4.5.1)
// The complement of SWIFT_ABI_ARM64_SWIFT_SPARE_BITS_MASK (SwiftShims/System.h): four bits of the highest byte only, since
// memory tagging has the others.
#define UNDEAD_REFERENCE_BITS 0x0FFFFFFFFFFFFFF8ull

// General registers: x0 to x30. A function keeps x19 to x29 for its caller (AAPCS64, 6.1.1).
#define UNDEAD_GENERAL_REGISTERS 31
#define UNDEAD_FP 29
#define UNDEAD_KEPT_REGISTERS {{19, 11}}

static inline long undead_raw6(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory", "cc");
  return x0;
}

#define UNDEAD_SYSTEM_CALL 0x01, 0x00, 0x00, 0xd4   // svc #0
#define UNDEAD_MOVE_THREAD_POINTER "mrs %0, tpidr_el0"
#define UNDEAD_MOVE_STACK_POINTER "mov %0, sp"

static inline void undead_spin(void) { __asm__ volatile("yield" ::: "memory"); }
static inline uint64_t undead_ticks(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

#define UNDEAD_DESCRIPTOR_IS_ABOVE 0
#define UNDEAD_THREAD_VECTOR_OFFSET 0

// Nothing in a descriptor marks it as one: the caller knows the list that it is in.
#define UNDEAD_DESCRIPTOR_HEAD 0
static inline bool undead_is_descriptor_head(const uintptr_t *head) {
  (void)head;
  return true;
}

// The loader's, exported; addresses are not rotated (sysdeps/unix/sysv/linux/aarch64/pointer_guard.h).
extern uintptr_t __pointer_chk_guard __attribute__((weak));
static inline uintptr_t undead_pointer_guard(void) { return &__pointer_chk_guard ? __pointer_chk_guard : 0; }
#define UNDEAD_POINTER_ROTATION 0
