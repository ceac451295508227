// The allocation scope of a block, kept in its backtrace: a node between the outer frames and the innermost ones.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern uint32_t undead_open_scopes;   // how many are open

// The id of the same backtrace in the scope of the code that runs now. For hooks; never fails (the id stays as it is).
uint32_t undead_scope_tag(uint32_t backtrace);

// The scope in a backtrace id, 0 if there is none.
uint32_t undead_scope_of_backtrace(uint32_t backtrace);

#pragma GCC visibility pop
