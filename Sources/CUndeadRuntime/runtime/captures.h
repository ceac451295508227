// What closure contexts and local boxes hold.
#pragma once
#include "runtime/types.h"

// Captures in order; those behind one whose size is unknown have the offset UINT32_MAX. Never NULL.
const undead_fields *undead_captures_of(uintptr_t isa);
// The same without the types of captures that are simple by their names, as undead_fields_lazily.
const undead_fields *undead_captures_lazily(uintptr_t isa);
// The same for one context (at `address`), whose generic arguments are read from it: all offsets, as a rule.
const undead_fields *undead_captures_in(uintptr_t isa, uintptr_t address);
