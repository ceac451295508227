// Whether a live block can be a leak of the program at all, by who allocated it and by its first word.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// False only if no search would report the block: it belongs to a test library, is memory of a task, or is neither a Swift object
// nor memory that Swift code of the program asked for. While the program runs; with the lock of checks held.
bool undead_may_be_leak(uintptr_t block, uint32_t backtrace);

#pragma GCC visibility pop
