// How a helper ends that crashed.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_CRASH_EXIT 128   // plus the signal

extern volatile uintptr_t *undead_crash_address;   // shared with copies: what could not be read

#pragma GCC visibility pop

// Where work is done in place: what a fault leads to instead of the end of the process; does not come back.
void undead_helper_at_fault(void (*function)(int number, uintptr_t address));
