// Rules of functions without unwind information, from their own code.
#pragma once
#include "unwind/rules/images.h"
#include "unwind/rule_x86_64.h"

#pragma GCC visibility push(hidden)

// Follows the code from `pc`, the address of an instruction in `image`, to where the function returns, and adds up what
// leaves the stack on the way. `is_called`: a call returns to `pc`. A special rule (unknown) if no way leads there.
// Takes no lock, allocates nothing.
undead_rule undead_rule_of_epilogue(const undead_image *image, uintptr_t pc, bool is_called);

// The rule for `pc`, the last byte of a call or the start of the instruction that a signal interrupted. The function
// before ends at `low`.
undead_rule undead_rule_without_entry(const undead_image *image, uintptr_t pc, uintptr_t low);

#pragma GCC visibility pop
