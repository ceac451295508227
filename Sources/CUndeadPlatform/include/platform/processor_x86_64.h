// x86-64, for processor.h. Layouts of threads are glibc's (sysdeps/x86_64/nptl/tls.h): a descriptor begins where the thread
// pointer points to, and thread-local storage of the images that were there at the start lies below.
#pragma once

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

#define UNDEAD_SYSTEM_CALL_BYTES 2
static inline bool undead_is_system_call(const uint8_t *code) { return code[0] == 0x0f && code[1] == 0x05; }

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

// Between two looks at what another processor changes.
static inline void undead_spin(void) { __builtin_ia32_pause(); }
// A number that changes all the time.
static inline uint64_t undead_ticks(void) { return __builtin_ia32_rdtsc(); }

// The descriptor (struct pthread) of the thread with this thread pointer, and back.
static inline uintptr_t undead_thread_descriptor(uintptr_t tp, size_t descriptor_bytes) {
  (void)descriptor_bytes;
  return tp;
}
static inline uintptr_t undead_thread_of_descriptor(uintptr_t descriptor, size_t descriptor_bytes) {
  (void)descriptor_bytes;
  return descriptor;
}

// Descriptors point to themselves twice (tcbhead_t: tcb, self).
#define UNDEAD_DESCRIPTOR_HEAD 24
static inline bool undead_is_descriptor_head(const uintptr_t *head) {
  return head[0] == (uintptr_t)head && head[2] == (uintptr_t)head;
}

// The dynamic thread vector: 16 bytes for each module, in [-1] its length.
static inline uintptr_t undead_thread_vector(uintptr_t tp) { return *(const uintptr_t *)(tp + 8); }

// From where and to where storage and descriptor of a thread lie.
static inline uintptr_t undead_thread_low(uintptr_t tp, size_t storage_bytes, size_t descriptor_bytes) {
  (void)descriptor_bytes;
  return tp - storage_bytes;
}
static inline uintptr_t undead_thread_high(uintptr_t tp, size_t storage_bytes, size_t descriptor_bytes) {
  (void)storage_bytes;
  return tp + descriptor_bytes;
}
// The place of a variable so far from the thread pointer.
static inline uintptr_t undead_thread_variable(uintptr_t tp, size_t distance) { return tp - distance; }

// What the C library hides addresses with (tcbhead_t: pointer_guard), and how (pointer_guard.h).
static inline uintptr_t undead_pointer_guard(void) { return *(const uintptr_t *)(undead_thread_pointer() + 0x30); }
#define UNDEAD_POINTER_ROTATION 17
