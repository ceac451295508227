// The variables of the instrument lie in sections of their own: what they name, such as the block that a cache was made
// for, nobody holds, and it may have leaked. To be included by every file that defines a variable, and by no header.
#pragma once
#include "undead_supported.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if UNDEAD_SUPPORTED
#pragma clang section bss = "undead_bss" data = "undead_data"
#endif

// The `index`-th range of them, from 0; false behind the last one. Variables of threads are not among them.
__attribute__((visibility("hidden"))) bool undead_own_variables(size_t index, uintptr_t *low, uintptr_t *high);
