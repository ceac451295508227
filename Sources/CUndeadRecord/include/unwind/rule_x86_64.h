// How to get from a frame to its caller on x86-64, packed into one word for each return address.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Plain rule: CFA = (BP ? rbp : rsp) + offset, the return address is at CFA - 8, and the caller's rbp is at
// CFA - saved, or still in rbp if `saved` is 0. Both are multiples of 8, and saved <= offset. 0 is "not computed yet".
typedef uint64_t undead_rule;

#define UNDEAD_RULE_VALID 1u
#define UNDEAD_RULE_BP 2u         // the CFA is relative to rbp; also set in special rules that need it
#define UNDEAD_RULE_SPECIAL 4u    // not a plain rule: undead_rule_kind says what
#define UNDEAD_RULE_LOADER 8u     // code of the dynamic loader
#define UNDEAD_RULE_GUESS 16u     // function without unwind information
#define UNDEAD_RULE_ASYNC 32u     // asynchronous Swift function: the word below its caller's rbp is its context
#define UNDEAD_RULE_FOLLOWED 64u  // guessed from the way out of the function: libunwind cannot unwind it
#define UNDEAD_RULE_TOOLCHAIN 128u   // code of the toolchain's or the system's libraries; told only where backtraces may be partial

typedef enum {
  UNDEAD_RULE_STOP = 1,   // outermost frame: the return address is undefined
  UNDEAD_RULE_UNKNOWN,    // nothing here can unwind it, libunwind may
  UNDEAD_RULE_SIGNAL,     // signal trampoline: rsp points to the ucontext
  UNDEAD_RULE_END,        // like UNKNOWN, and libunwind did not get further, either: a backtrace ends here
  UNDEAD_RULE_DEREF,      // CFA = *(rbp - offset), the caller's rbp is at rbp: realigned stack
  UNDEAD_RULE_FOREIGN,    // no unwind information, perhaps no image: CFA = rbp + 16 if rbp looks like a frame pointer, else the end
} undead_rule_special;

#define UNDEAD_RULE_FIELD 0xFFFFFFu   // largest value of `offset` and of `saved`

static inline __attribute__((always_inline)) uint64_t undead_rule_offset(undead_rule rule) {
  return (rule >> 8) & UNDEAD_RULE_FIELD;
}

// Distance of the slot that holds the caller's rbp below the CFA.
static inline __attribute__((always_inline)) uint64_t undead_rule_saved(undead_rule rule) {
  return rule >> 32;
}

// 0 for a plain rule.
static inline undead_rule_special undead_rule_kind(undead_rule rule) {
  return rule & UNDEAD_RULE_SPECIAL ? (undead_rule_special)(rule >> 32) : (undead_rule_special)0;
}

// True where a stack ends, or what is known of it.
static inline __attribute__((always_inline)) bool undead_rule_is_end(undead_rule rule) {
  return undead_rule_kind(rule) == UNDEAD_RULE_STOP || undead_rule_kind(rule) == UNDEAD_RULE_END;
}

static inline undead_rule undead_rule_make(uint64_t flags, uint64_t offset, uint64_t saved_or_kind) {
  return flags | UNDEAD_RULE_VALID | (offset << 8) | (saved_or_kind << 32);
}

// Computes the rule for the instruction at `pc` from the unwind tables of its image. Takes no lock, allocates nothing.
undead_rule undead_rule_compute(uintptr_t pc);

#pragma GCC visibility pop
