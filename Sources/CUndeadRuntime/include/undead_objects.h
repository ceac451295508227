// Swift objects that are watched without being kept alive, and what closures know of objects that have died.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Holds the memory of a Swift object, but not the object: no other object comes to its address until it is let go.
// Both work at any moment of its life, on any thread, and run no code of the object.
void undead_object_hold(const void *object);
void undead_object_let_go(const void *object);
// True until deinitialisation begins.
bool undead_object_is_alive(const void *object);

// Whether all that a Swift closure captures are weak references to objects that have died; the class of one of them is
// written to `type`. False if it also captures anything else, or if the metadata of captures was stripped. `context` is
// the second word of the closure, whose caller keeps it alive. What a reference leads to may be released on this thread.
bool undead_closure_knows_only_dead(const void *context, char *type, size_t size);

#ifdef __cplusplus
}
#endif
