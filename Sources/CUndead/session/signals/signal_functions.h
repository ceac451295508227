// The functions that set the actions of signals, interposed so that the program sees the default action where it has
// set no other, although a handler of ours stands there.
#pragma once

#pragma GCC visibility push(hidden)

// Looks up the interposed functions while that is still safe.
void undead_signal_find_next(void);

#pragma GCC visibility pop
