// For tests: compares captured backtraces with libunwind's, frame by frame.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Call right after a capture whose innermost frame is `pc`. Differences are written to standard error at exit.
void undead_compare(uint32_t id, uintptr_t pc);

#pragma GCC visibility pop
