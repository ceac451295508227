// How a helper ends that crashed.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_CRASH_EXIT 128   // plus the signal

extern volatile uintptr_t *undead_crash_address;   // shared with copies: what could not be read

#pragma GCC visibility pop
