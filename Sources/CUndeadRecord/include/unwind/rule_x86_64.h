// How to get from a frame to its caller on x86-64, packed into one word for each return address.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Plain rule: CFA = (BP ? rbp : rsp) + offset, the return address is at CFA - 8, and the caller's rbp is at
// CFA - saved, or still in rbp if `saved` is 0. Both are multiples of 8, and the slot is at most a red
// zone below rsp. 0 is "not computed yet".
typedef uint64_t undead_rule;

#define UNDEAD_RULE_VALID 1u
#define UNDEAD_RULE_BP 2u         // the CFA is relative to rbp; also set in special rules that need it
#define UNDEAD_RULE_SPECIAL 4u    // not a plain rule: undead_rule_kind says what
#define UNDEAD_RULE_LOADER 8u     // code of the dynamic loader
#define UNDEAD_RULE_GUESS 16u     // function without unwind information
#define UNDEAD_RULE_ASYNC 32u     // asynchronous Swift function: the word below its caller's rbp is its context
#define UNDEAD_RULE_FOLLOWED 64u  // guessed from the way out of the function: libunwind cannot unwind it

typedef enum {
  UNDEAD_RULE_STOP = 1,   // outermost frame: the return address is undefined
  UNDEAD_RULE_UNKNOWN,    // nothing here can unwind it, libunwind may
  UNDEAD_RULE_SIGNAL,     // signal trampoline: rsp points to the ucontext
  UNDEAD_RULE_END,        // like UNKNOWN, and libunwind did not get further, either: a backtrace ends here
  UNDEAD_RULE_DEREF,      // CFA = *(rbp - offset), the caller's rbp is at rbp: realigned stack
  UNDEAD_RULE_FOREIGN,    // no unwind information, perhaps no image: CFA = rbp + 16 if rbp looks like a frame pointer, else the end
  UNDEAD_RULE_REGISTER,   // CFA = undead_rule_register + offset: a step for who knows that register (walk_x86_64.c)
} undead_rule_special;

// Registers that a function leaves as they were, but for rbp.
typedef enum { UNDEAD_RBX, UNDEAD_R12, UNDEAD_R13, UNDEAD_R14, UNDEAD_R15, UNDEAD_KEPT_COUNT } undead_kept_register;

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
  return rule & UNDEAD_RULE_SPECIAL ? (undead_rule_special)(rule >> 32 & 15) : (undead_rule_special)0;
}

// Of UNDEAD_RULE_REGISTER: where the CFA is found by, and the distance of the slot of the caller's rbp below it (0: it is in rbp).
static inline undead_kept_register undead_rule_register(undead_rule rule) { return (undead_kept_register)(rule >> 36 & 7); }
static inline uint64_t undead_rule_register_saved(undead_rule rule) { return rule >> 40; }

// True where a stack ends, or what is known of it.
static inline __attribute__((always_inline)) bool undead_rule_is_end(undead_rule rule) {
  return undead_rule_kind(rule) == UNDEAD_RULE_STOP || undead_rule_kind(rule) == UNDEAD_RULE_END;
}

static inline undead_rule undead_rule_make(uint64_t flags, uint64_t offset, uint64_t saved_or_kind) {
  return flags | UNDEAD_RULE_VALID | (offset << 8) | (saved_or_kind << 32);
}

// Computes the rule for the instruction at `pc` from the unwind tables of its image. Takes no lock, allocates nothing.
undead_rule undead_rule_compute(uintptr_t pc);

// Where a function saved the kept registers of its caller, twelve bits for each.
typedef uint64_t undead_saves;
#define UNDEAD_SAVED_UNKNOWN 0xFFFu   // of a register: nobody knows
#define UNDEAD_SAVED_BY_RBP 0x800u    // so many words below the function's rbp, else below its CFA; 0: it is still in the register

static inline uint32_t undead_saves_of(undead_saves saves, undead_kept_register number) {
  return (uint32_t)(saves >> 12 * number) & 0xFFFu;
}

// The same by the tables for the instruction at `pc`; without any nothing is known.
undead_saves undead_saves_compute(uintptr_t pc);

#pragma GCC visibility pop
