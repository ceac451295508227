// Objects that have references again when the runtime is to free them.
#pragma once
#include "zombies/functions/functions.h"

#pragma GCC visibility push(hidden)

// For undead_swift_functions_watch, of a sample: nothing but these. All else shows by faults.
extern const undead_watching_functions undead_watching_escapes;

#pragma GCC visibility pop
