// A copy whose faults are caught, by the address of its instruction.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

// False if the memory cannot be read. Where faults are not caught, the program ends.
bool undead_caught_copy(uint64_t *to, const uint64_t *from, size_t words);
// True if the fault is one of that copy, which ends then.
bool undead_caught_copy_ends(ucontext_t *context);

#pragma GCC visibility pop
