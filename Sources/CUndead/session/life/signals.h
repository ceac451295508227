// Signals that start a look for leaks: SIGTERM and SIGINT where the program would die of them, and the request signal.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Takes the signals over that have their default action now. Called with one thread, before main.
void undead_signals_begin(void);

// Gives them back, for good.
void undead_signals_end(void);

// After a fork: no signal is being answered in the child.
void undead_signals_reset(void);

// True if the instrument handles `signal` whenever the program leaves it at its default action.
bool undead_signal_is_managed(int signal);

// Makes our handler the action of a managed signal.
void undead_signal_manage(int signal);

// True if `handler` is ours: the program must get SIG_DFL instead.
bool undead_signal_handler_is_ours(const void *handler);

#pragma GCC visibility pop
