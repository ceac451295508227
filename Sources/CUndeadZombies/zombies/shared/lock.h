// A lock that is never waited for without end: a thread that cannot get it does without.
#pragma once
#include "platform/images/c_library.h"
#include "record/gate.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  uintptr_t taken;   // by the function whose frame pointer is here; 0: nobody
} undead_bounded_lock;

// Taken for a fork.
#define UNDEAD_LOCK_HELD 1u

// False if the holder does not let go: it was interrupted by the caller, or is gone (a fork). Takes the lock away from a
// function that this thread has jumped out of. Async-signal-safe.
bool undead_lock_wait(undead_bounded_lock *lock, uintptr_t holder);

static inline __attribute__((always_inline)) bool undead_lock_try(undead_bounded_lock *lock, uintptr_t holder) {
  uintptr_t nobody = 0;
  return __atomic_compare_exchange_n(&lock->taken, &nobody, holder, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) bool undead_lock_take_for(undead_bounded_lock *lock, uintptr_t holder) {
  // With one thread there is only a signal handler to race with, and that finds the lock taken or leaves it free.
  if (undead_is_single_threaded() && !__atomic_load_n(&lock->taken, __ATOMIC_RELAXED)) {
    __atomic_store_n(&lock->taken, holder, __ATOMIC_RELAXED);
    return true;
  }
  return __builtin_expect(undead_lock_try(lock, holder), 1) || undead_lock_wait(lock, holder);
}

static inline __attribute__((always_inline)) bool undead_lock_take(undead_bounded_lock *lock) {
  return undead_lock_take_for(lock, (uintptr_t)__builtin_frame_address(0));
}

static inline __attribute__((always_inline)) void undead_lock_release(undead_bounded_lock *lock) {
  __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

// For a lock that is waited for inside of the allocator's hooks: who holds it is in one, too, and never kept stopped.
static inline __attribute__((always_inline)) bool undead_lock_take_in_hook(undead_bounded_lock *lock) {
  undead_hook_enter();
  if (__builtin_expect(undead_lock_take(lock), 1)) return true;
  undead_hook_leave();
  return false;
}

static inline __attribute__((always_inline)) void undead_lock_release_in_hook(undead_bounded_lock *lock) {
  undead_lock_release(lock);
  undead_hook_leave();
}

// Around a fork: nobody else has the lock in the child, and who takes it waits at no gate.
static inline void undead_lock_before_fork(undead_bounded_lock *lock) {
  if (undead_lock_take_for(lock, UNDEAD_LOCK_HELD)) undead_hook_hold();
}
static inline void undead_lock_after_fork(undead_bounded_lock *lock) {
  if (__atomic_load_n(&lock->taken, __ATOMIC_RELAXED) != UNDEAD_LOCK_HELD) return;
  undead_lock_release(lock);
  undead_hook_let_go();
}

#pragma GCC visibility pop
