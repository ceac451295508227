// The type of what a closure captures of a parameter pack.
#pragma once
#include "runtime/captures/captures.h"

// 0 if the name is of something else, or an element's type is not certain. `bindings` are the words at the head of the context.
uintptr_t undead_tuple_of_pack(const undead_capture_list *captures, const undead_mangled *name, const uintptr_t *bindings);
