// Faults on pages of the pool.
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <ucontext.h>

#pragma GCC visibility push(hidden)

// What a fault of the program touched: nothing of the pool's; pages of it that are open, for all that is known; or what was reported.
typedef enum { UNDEAD_TOUCH_OF_OTHERS, UNDEAD_TOUCH_OF_OPEN, UNDEAD_TOUCH_GOES_ON, UNDEAD_TOUCH_ENDS } undead_touch;
undead_touch undead_fenced_fault(const siginfo_t *info, const ucontext_t *context);

#pragma GCC visibility pop
