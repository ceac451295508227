// What depends on the processor, and is short. processor_x86_64.h and processor_arm64.h define the same names; registers of
// stopped and interrupted threads are in registers.h. Longer parts are files of their own: Documentation/platforms.md has a list.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

// Each has: the bytes of the instruction that makes a system call (UNDEAD_SYSTEM_CALL), how the thread pointer and the stack
// pointer are read, on which side of the thread pointer what lies, undead_raw6 (a system call without libc), undead_spin (between
// two looks at what another processor changes), undead_ticks (a number that changes all the time), undead_pointer_guard.

#if !defined(__linux__)
#error "stopping the world is implemented for Linux only"
#elif defined(__x86_64__)
#include "platform/processor/processor_x86_64.h"
#elif defined(__aarch64__)
#include "platform/processor/processor_arm64.h"
#else
#error "nothing is known of this processor"
#endif

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
  __asm__(UNDEAD_MOVE_THREAD_POINTER : "=r"(pointer));
  return pointer;
}

static inline uintptr_t undead_stack_pointer(void) {
  uintptr_t pointer;
  __asm__ volatile(UNDEAD_MOVE_STACK_POINTER : "=r"(pointer));
  return pointer;
}

// glibc puts thread-local storage of the images that were there at the start on one side of the thread pointer, and the
// descriptor (struct pthread) on the other. The descriptor of the thread with this thread pointer, and back:
static inline uintptr_t undead_thread_descriptor(uintptr_t tp, size_t descriptor_bytes) {
  return UNDEAD_DESCRIPTOR_IS_ABOVE ? tp : tp - descriptor_bytes;
}
static inline uintptr_t undead_thread_of_descriptor(uintptr_t descriptor, size_t descriptor_bytes) {
  return UNDEAD_DESCRIPTOR_IS_ABOVE ? descriptor : descriptor + descriptor_bytes;
}

// From where and to where storage and descriptor of a thread lie.
static inline uintptr_t undead_thread_low(uintptr_t tp, size_t storage_bytes, size_t descriptor_bytes) {
  return tp - (UNDEAD_DESCRIPTOR_IS_ABOVE ? storage_bytes : descriptor_bytes);
}
static inline uintptr_t undead_thread_high(uintptr_t tp, size_t storage_bytes, size_t descriptor_bytes) {
  return tp + (UNDEAD_DESCRIPTOR_IS_ABOVE ? descriptor_bytes : storage_bytes);
}
// The place of a variable so far from the thread pointer.
static inline uintptr_t undead_thread_variable(uintptr_t tp, size_t distance) {
  return UNDEAD_DESCRIPTOR_IS_ABOVE ? tp - distance : tp + distance;
}

// The dynamic thread vector: 16 bytes for each module, in [-1] its length.
static inline uintptr_t undead_thread_vector(uintptr_t tp) {
  return *(const uintptr_t *)(tp + UNDEAD_THREAD_VECTOR_OFFSET);
}
