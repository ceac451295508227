// The functions of the Swift runtime that stand behind ours of the same names, and what our entry points jump to.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// In the order of the tables in each_function_x86_64.h.
typedef enum {
  UNDEAD_SWIFT_DEALLOC_CLASS_INSTANCE,
  UNDEAD_SWIFT_DEALLOC_OBJECT,
  UNDEAD_SWIFT_ALLOC_OBJECT,
  UNDEAD_SWIFT_RETAIN,
  UNDEAD_SWIFT_RETAIN_N,
  UNDEAD_SWIFT_NONATOMIC_RETAIN,
  UNDEAD_SWIFT_NONATOMIC_RETAIN_N,
  UNDEAD_SWIFT_BRIDGE_RETAIN,
  UNDEAD_SWIFT_BRIDGE_RETAIN_N,
  UNDEAD_SWIFT_NONATOMIC_BRIDGE_RETAIN,
  UNDEAD_SWIFT_NONATOMIC_BRIDGE_RETAIN_N,
  UNDEAD_SWIFT_RELEASE,
  UNDEAD_SWIFT_RELEASE_N,
  UNDEAD_SWIFT_NONATOMIC_RELEASE,
  UNDEAD_SWIFT_NONATOMIC_RELEASE_N,
  UNDEAD_SWIFT_BRIDGE_RELEASE,
  UNDEAD_SWIFT_BRIDGE_RELEASE_N,
  UNDEAD_SWIFT_NONATOMIC_BRIDGE_RELEASE,
  UNDEAD_SWIFT_NONATOMIC_BRIDGE_RELEASE_N,
  UNDEAD_SWIFT_UNOWNED_RETAIN_STRONG,
  UNDEAD_SWIFT_UNOWNED_RETAIN_STRONG_AND_RELEASE,
  UNDEAD_SWIFT_NONATOMIC_UNOWNED_RETAIN_STRONG,
  UNDEAD_SWIFT_NONATOMIC_UNOWNED_RETAIN_STRONG_AND_RELEASE,
  UNDEAD_SWIFT_UNOWNED_CHECK,
  UNDEAD_SWIFT_DYNAMIC_CAST_CLASS,
  UNDEAD_SWIFT_DYNAMIC_CAST_CLASS_UNCONDITIONAL,
  UNDEAD_SWIFT_DYNAMIC_CAST_UNKNOWN_CLASS,
  UNDEAD_SWIFT_DYNAMIC_CAST_UNKNOWN_CLASS_UNCONDITIONAL,
  UNDEAD_SWIFT_FUNCTION_COUNT,
} undead_swift_function;

// The runtime's own function, once it is known; until then a stub that finds it. Never NULL.
extern uintptr_t undead_swift_real[UNDEAD_SWIFT_FUNCTION_COUNT];
// Where our definition of the function jumps to: the runtime's own, or the one that watches for zombies.
extern uintptr_t undead_swift_target[UNDEAD_SWIFT_FUNCTION_COUNT];
// Versions that watch for zombies (catch/watching_x86_64.c), by the index of the function; 0: there is none.
typedef struct {
  const uintptr_t *normally, *closely;
  void (*each_release)(void *object, uint32_t count);   // in place of the one for swift_release_n
} undead_watching_functions;

// Finds the runtime's functions now, while that is safe. False if they cannot be reached: no Swift runtime, or one that
// is linked statically, whose functions are not ours to replace.
bool undead_swift_functions_find(void);

// Lets our definitions watch for zombies, or not (NULL).
void undead_swift_functions_watch(const undead_watching_functions *functions);

// While watching: tells every retain and release, not only those of zombies (undead_zombie_touched). Any thread.
void undead_swift_functions_watch_closely(bool on);

#define UNDEAD_CALL_REAL_DEALLOC(index, object, size, align_mask) \
  ((void (*)(void *, size_t, size_t))undead_swift_real[index])(object, size, align_mask)

#pragma GCC visibility pop
