// Which `unowned` field led to a dead object (unowned_field.c).
#pragma once
#include "zombies/catch/stubs_x86_64.h"

#pragma GCC visibility push(hidden)

typedef struct {
  uintptr_t isa;       // of the object that has the field
  const char *field;   // NULL: not known for certain
} undead_unowned_field;

// Of a call that returns to `pc`, by a function with these registers.
undead_unowned_field undead_find_unowned_field(uintptr_t dead, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                                               const undead_kept_registers *kept);

#pragma GCC visibility pop
