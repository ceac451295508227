// What closure contexts and local boxes hold.
#pragma once
#include "runtime/types.h"

typedef struct {
  uintptr_t address;   // of the capture descriptor, 0: there is none
  uint32_t types, sources, bindings;
  uint32_t first;      // offset of the bindings (a word each), then the captures
} undead_capture_list;

// What the metadata of a context says that it holds; false if it says nothing, or what cannot be. Asks nobody: for any thread.
bool undead_capture_list_of(uintptr_t isa, undead_capture_list *list);
undead_mangled undead_capture_name(const undead_capture_list *captures, uint32_t index);

// Captures in order; those behind one whose size is unknown have the offset UINT32_MAX. Never NULL.
const undead_fields *undead_captures_of(uintptr_t isa);
// The same without the types of captures that are simple by their names, as undead_fields_lazily.
const undead_fields *undead_captures_lazily(uintptr_t isa);
// The same of a context with these type arguments, as far as they are certainly types.
const undead_fields *undead_captures_with(uintptr_t isa, const uintptr_t *bindings);
// The same for one context (at `address`), whose generic arguments are read from it: all offsets, as a rule.
const undead_fields *undead_captures_in(uintptr_t isa, uintptr_t address);
// What the runtime makes of a generic parameter whose argument is `type`, if asked as for a capture of it.
uintptr_t undead_capture_of_parameter(uintptr_t type);
