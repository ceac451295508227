// Containment of our own crashes: naming reads the program's memory and calls its runtime, and either may be damaged.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Runs `work(context)` on the calling thread; one thread at a time. Returns 0, or the signal by which it crashed: then
// it was left in the middle. Crashes of other threads go where they would have gone.
int undead_guarded(void (*work)(void *), void *context);

#pragma GCC visibility pop
