// How backtraces are taken. Recording decides (record/mode/mode.c).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_DEPTH_LIMIT 256   // frames of a backtrace, innermost first

// False where recording was stopped: system calls may be forbidden.
extern volatile bool undead_backtrace_goes_on;

#pragma GCC visibility pop
