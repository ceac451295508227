// Objects with pages of their own: the header ends one page, which stays readable, the fields begin the next, which
// nobody can read or write any more once the object is dead.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_GUARD_SLOT_BYTES 8192u   // address space that an object takes

extern uintptr_t undead_guard_low;
extern size_t undead_guard_bytes;   // 0: there are no guard pages

static inline __attribute__((always_inline)) bool undead_guard_holds(uintptr_t address) {
  return __builtin_expect(address - undead_guard_low < undead_guard_bytes, 0);
}

bool undead_guard_prepare(void);
// Memory for an object, cleared and registered with the backtrace; NULL (counted) if it cannot have pages of its own.
void *undead_guard_allocate(size_t size, size_t align_mask, uint32_t backtrace);
// True if the living and the dead have more than half of the pages.
bool undead_guard_is_half_full(void);
// Protects the fields of a dead object, or opens them again: false if that is refused.
void undead_guard_close(uintptr_t object);
bool undead_guard_open(uintptr_t object);
// In place of free() for an object on guard pages.
void undead_guard_free(uintptr_t object);
// Lets a late use of an object that has gone for good see zeros, if the program is to go on.
bool undead_guard_expose(uintptr_t object);
// The dead or gone object whose protected page holds `address`, 0 if there is none. Async-signal-safe.
uintptr_t undead_guard_object(uintptr_t address);
// True if `address` lies on the pages of an object that can be used. Async-signal-safe.
bool undead_guard_is_open(uintptr_t address);
typedef struct {
  uint64_t guarded, guarded_now, not_guarded;
} undead_guard_counters;
void undead_guard_read_counters(undead_guard_counters *counters);

void undead_guard_before_fork(void);
void undead_guard_after_fork(void);

#pragma GCC visibility pop
