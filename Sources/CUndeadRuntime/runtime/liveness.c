// Objects that are watched without being kept alive: an unowned reference keeps their header.
#include "undead_objects.h"

// Exported by the runtime (stdlib/public/SwiftShims/swift/shims/Refcount.h, include/swift/Runtime/HeapObject.h). Weak:
// the preloaded library is also there in programs without it.
extern void *swift_unownedRetain(void *object) __attribute__((weak));
extern void swift_unownedRelease(void *object) __attribute__((weak));
extern bool swift_isDeallocating(void *object) __attribute__((weak));

void undead_object_hold(const void *object) {
  if (swift_unownedRetain) swift_unownedRetain((void *)object);
}

void undead_object_let_go(const void *object) {
  if (swift_unownedRelease) swift_unownedRelease((void *)object);
}

bool undead_object_is_alive(const void *object) { return swift_isDeallocating && !swift_isDeallocating((void *)object); }
