// What depends on the processor, x86-64, and is short; registers of stopped and interrupted threads are in registers.h. Layouts of
// threads are glibc's (sysdeps/x86_64/nptl/tls.h): a descriptor (struct pthread) begins where the thread pointer points to, and
// thread-local storage of the images that were there at the start lies below.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define UNDEAD_ADDRESS_BITS 47   // of a program (Documentation/arch/x86/x86_64/mm.rst of the kernel), which asks for no more
#define UNDEAD_RED_ZONE 128      // a leaf function may use as much below its stack pointer (System V ABI, 3.2.2)
// What swift_retain takes for the address in a reference: SWIFT_ABI_X86_64_SWIFT_SPARE_BITS_MASK (SwiftShims/System.h).
#define UNDEAD_REFERENCE_BITS 0x00FFFFFFFFFFFFF8ull

// General registers, without the stack pointer: rax rbx rcx rdx rsi rdi rbp r8 ... r15. Places among them: the frame pointer, and
// {first, number} of those that a function keeps for its caller.
#define UNDEAD_GENERAL_REGISTERS 15
#define UNDEAD_FP 6
#define UNDEAD_KEPT_REGISTERS {{1, 1}, {UNDEAD_FP, 1}, {11, 4}}

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

#define UNDEAD_SYSTEM_CALL 0x0f, 0x05   // syscall

static inline void undead_spin(void) { __builtin_ia32_pause(); }
static inline uint64_t undead_ticks(void) { return __builtin_ia32_rdtsc(); }

// Descriptors point to themselves twice (tcbhead_t: tcb, self).
#define UNDEAD_DESCRIPTOR_HEAD 24
static inline bool undead_is_descriptor_head(const uintptr_t *head) {
  return head[0] == (uintptr_t)head && head[2] == (uintptr_t)head;
}

// What the C library hides addresses with (tcbhead_t: pointer_guard), and how (pointer_guard.h).
static inline uintptr_t undead_pointer_guard(void) {
  uintptr_t guard;
  __asm__("mov %%fs:0x30, %0" : "=r"(guard));
  return guard;
}
#define UNDEAD_POINTER_ROTATION 17

// System calls without libc: no errno, no cancellation point. For the helper, its copies and signal handlers.
static inline long undead_raw4(long number, long a, long b, long c, long d) {
  return undead_raw6(number, a, b, c, d, 0, 0);
}

static inline long undead_raw3(long number, long a, long b, long c) { return undead_raw6(number, a, b, c, 0, 0, 0); }

static inline bool undead_is_system_call(const uint8_t *code) {
  const uint8_t instruction[] = {UNDEAD_SYSTEM_CALL};
  return __builtin_memcmp(code, instruction, sizeof instruction) == 0;
}
#define UNDEAD_SYSTEM_CALL_BYTES sizeof((const uint8_t[]){UNDEAD_SYSTEM_CALL})

// True if a system call is made at `code`, or was made right before.
static inline bool undead_is_beside_system_call(const uint8_t *code) {
  return undead_is_system_call(code - UNDEAD_SYSTEM_CALL_BYTES) || undead_is_system_call(code);
}

static inline uintptr_t undead_thread_pointer(void) {
  uintptr_t pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

static inline uintptr_t undead_stack_pointer(void) {
  uintptr_t pointer;
  __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
  return pointer;
}

// The place of a variable so far from the thread pointer.
static inline uintptr_t undead_thread_variable(uintptr_t tp, size_t distance) { return tp - distance; }

// The dynamic thread vector: 16 bytes for each module, in [-1] its length.
static inline uintptr_t undead_thread_vector(uintptr_t tp) { return *(const uintptr_t *)(tp + 8); }
