// Signals, and the functions of the C library that are interposed for them.
#pragma once
#include <signal.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// The actions of signals as the kernel has them: what signal_functions.c shows to the program is something else.

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

// Calls of the system that are given memory of the program.

// In a process that runs already.
bool undead_buffer_attach(void);

// Ending the process by a signal, as if the instrument had not caught it.

// Restores the default action of `signal` and delivers it to this process. Returns only where the kernel protects the
// process from it (process 1 of a container). Async-signal-safe.
void undead_die_of(int signal);

// Containment of our own crashes: naming reads the program's memory and calls its runtime, and either may be damaged.

// Runs `work(context)` on the calling thread, not nested. Returns 0, or the signal by which it crashed: then it was left in the
// middle; or SIGABRT without running it, if too many threads are at it. Crashes of threads that are not guarded go where they
// would have gone.
int undead_guarded(void (*work)(void *), void *context);

void undead_guards_after_fork_in_child(void);

// Where the program asks for an action while a handler of ours stands there: its own.
void undead_guard_hide(int number, struct sigaction *action);

#pragma GCC visibility pop
