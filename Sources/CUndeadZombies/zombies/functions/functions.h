// The functions of the Swift runtime that stand behind ours of the same names, and what our entry points jump to.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// All of them, in the order of the tables: those that give and take memory, those that retain and release, the others.
#define UNDEAD_FUNCTIONS_OF_MEMORY(EACH) \
  EACH(DEALLOC_CLASS_INSTANCE, swift_deallocClassInstance) EACH(DEALLOC_OBJECT, swift_deallocObject) \
  EACH(ALLOC_OBJECT, swift_allocObject)
#define UNDEAD_FUNCTIONS_OF_COUNTS(EACH) \
  EACH(RETAIN, swift_retain) EACH(RETAIN_N, swift_retain_n) EACH(NONATOMIC_RETAIN, swift_nonatomic_retain) \
  EACH(NONATOMIC_RETAIN_N, swift_nonatomic_retain_n) EACH(BRIDGE_RETAIN, swift_bridgeObjectRetain) \
  EACH(BRIDGE_RETAIN_N, swift_bridgeObjectRetain_n) EACH(NONATOMIC_BRIDGE_RETAIN, swift_nonatomic_bridgeObjectRetain) \
  EACH(NONATOMIC_BRIDGE_RETAIN_N, swift_nonatomic_bridgeObjectRetain_n) EACH(RELEASE, swift_release) \
  EACH(RELEASE_N, swift_release_n) EACH(NONATOMIC_RELEASE, swift_nonatomic_release) \
  EACH(NONATOMIC_RELEASE_N, swift_nonatomic_release_n) EACH(BRIDGE_RELEASE, swift_bridgeObjectRelease) \
  EACH(BRIDGE_RELEASE_N, swift_bridgeObjectRelease_n) EACH(NONATOMIC_BRIDGE_RELEASE, swift_nonatomic_bridgeObjectRelease) \
  EACH(NONATOMIC_BRIDGE_RELEASE_N, swift_nonatomic_bridgeObjectRelease_n)
#define UNDEAD_FUNCTIONS_OF_OTHERS(EACH) \
  EACH(UNOWNED_RETAIN_STRONG, swift_unownedRetainStrong) \
  EACH(UNOWNED_RETAIN_STRONG_AND_RELEASE, swift_unownedRetainStrongAndRelease) \
  EACH(NONATOMIC_UNOWNED_RETAIN_STRONG, swift_nonatomic_unownedRetainStrong) \
  EACH(NONATOMIC_UNOWNED_RETAIN_STRONG_AND_RELEASE, swift_nonatomic_unownedRetainStrongAndRelease) \
  EACH(UNOWNED_CHECK, swift_unownedCheck) EACH(DYNAMIC_CAST_CLASS, swift_dynamicCastClass) \
  EACH(DYNAMIC_CAST_CLASS_UNCONDITIONAL, swift_dynamicCastClassUnconditional) \
  EACH(DYNAMIC_CAST_UNKNOWN_CLASS, swift_dynamicCastUnknownClass) \
  EACH(DYNAMIC_CAST_UNKNOWN_CLASS_UNCONDITIONAL, swift_dynamicCastUnknownClassUnconditional)
#define UNDEAD_EACH_FUNCTION(EACH) \
  UNDEAD_FUNCTIONS_OF_MEMORY(EACH) UNDEAD_FUNCTIONS_OF_COUNTS(EACH) UNDEAD_FUNCTIONS_OF_OTHERS(EACH)

typedef enum {
#define UNDEAD_FUNCTION_INDEX(name, function) UNDEAD_SWIFT_##name,
  UNDEAD_EACH_FUNCTION(UNDEAD_FUNCTION_INDEX)
  UNDEAD_SWIFT_FUNCTION_COUNT,
} undead_swift_function;

// The runtime's own function, once it is known; until then a stub that finds it. Never NULL.
extern uintptr_t undead_swift_real[UNDEAD_SWIFT_FUNCTION_COUNT];
// Our definitions themselves.
extern const uint8_t undead_swift_entries[UNDEAD_SWIFT_FUNCTION_COUNT][16];
// Where our definition of the function jumps to: the runtime's own, or the one that watches for zombies.
extern uintptr_t undead_swift_target[UNDEAD_SWIFT_FUNCTION_COUNT];
// Versions that watch for zombies (catch/watching_x86_64.c), by the index of the function; 0: there is none.
typedef struct {
  const uintptr_t *normally, *closely;
  void (*each_release)(void *object, uint32_t count);   // in place of the one for swift_release_n; NULL: nothing is
} undead_watching_functions;

// Finds the runtime's functions now, while that is safe. False if they cannot be reached: no Swift runtime, or one that
// is linked statically, whose functions are not ours to replace.
bool undead_swift_functions_find(void);

// The images that are loaded now call the runtime's functions, or those that watch, without a jump of ours, until others watch.
void undead_swift_functions_step_aside(void);

// Finds a function, and returns the one of its name that images have to call to be watched; 0: it cannot be reached.
uintptr_t undead_swift_function_to_call(undead_swift_function function, const char **name);

// Lets our definitions watch for zombies, or not (NULL).
void undead_swift_functions_watch(const undead_watching_functions *functions);

// While watching: tells every retain and release, not only those of zombies (undead_zombie_touched). Any thread.
void undead_swift_functions_watch_closely(bool on);

#define UNDEAD_CALL_REAL_DEALLOC(index, object, size, align_mask) \
  ((void (*)(void *, size_t, size_t))undead_swift_real[index])(object, size, align_mask)

#pragma GCC visibility pop
