// How backtraces are taken. Recording decides (record/mode.c).
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_DEPTH_DEFAULT 256
#define UNDEAD_DEPTH_LIMIT 256

extern uint32_t undead_backtrace_depth;   // frames kept of each
// They may be partial (unwind/partial_x86_64.h),
extern bool undead_backtrace_hybrid;
// and are so wherever they may, not only where there are many of a site.
extern bool undead_backtrace_all_partial;
// False where recording was stopped: system calls may be forbidden.
extern volatile bool undead_backtrace_goes_on;

#pragma GCC visibility pop
