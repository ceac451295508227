// How backtraces are taken. Recording decides (record/mode/mode.c).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_DEPTH_DEFAULT 256
#define UNDEAD_DEPTH_LIMIT 256

extern uint32_t undead_backtrace_depth;   // frames kept of each
// False where recording was stopped: system calls may be forbidden.
extern volatile bool undead_backtrace_goes_on;

#pragma GCC visibility pop
