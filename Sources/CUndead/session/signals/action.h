// The actions of signals as the kernel has them: what signal_functions.c shows to the program is something else.
#pragma once
#include <signal.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Looks up the interposed function while that is still safe.
void undead_signal_action_find_next(void);

// Async-signal-safe.
int undead_signal_set_action(int signal, const struct sigaction *action, struct sigaction *old);
void undead_signal_restore_default(int signal);

// What takes signals over where the program leaves them at their default action (session/life/signals.c).
typedef struct {
  bool (*is_managed)(int signal);
  void (*manage)(int signal);                 // makes its handler the action of a managed signal
  bool (*is_handler)(const void *handler);    // the program gets SIG_DFL instead
  void (*survived)(int signal);               // the process was to end by it, and goes on
} undead_signal_manager;
void undead_signal_manage_by(const undead_signal_manager *manager);
const undead_signal_manager *undead_signal_manager_now(void);   // NULL: nothing was ever managed

#pragma GCC visibility pop
