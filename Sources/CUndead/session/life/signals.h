// Signals that start a look for leaks: SIGTERM and SIGINT where the program would die of them, and the request signal.
#pragma once

#pragma GCC visibility push(hidden)

// Takes the signals over that have their default action now. Called with one thread, before main.
void undead_signals_begin(void);

// Gives them back, for good.
void undead_signals_end(void);

// After a fork: no signal is being answered in the child.
void undead_signals_reset(void);

#pragma GCC visibility pop
