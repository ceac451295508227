// What the beginning of a session (start.c) needs of the files beside it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// The look for leaks when the program ends.

// Callee-saved registers and stack pointer of a function at a call or return, as the assembly stubs store them.
typedef struct {
  uintptr_t registers[6];   // rbx rbp r12 r13 r14 r15
  uintptr_t sp;             // after the return
  uintptr_t return_address;
} undead_call_site;

// Registers the exit handler: runs after the handlers of the program, before the destructors of its libraries. The check is
// made before both.
void undead_exit_register(void);

// After a fork: the child has not ended yet.
void undead_exit_reset(void);

// The call of the program's main, which libc_start.c leads through a stub (stubs_x86_64.c).

typedef int (*undead_main_function)(int, char **, char **);
extern undead_main_function undead_program_main;

// Takes the place of the program's main.
int undead_main_stub(int count, char **arguments, char **environment);

// Called by the stub before it calls main, and when main has returned to it.
undead_main_function undead_main_called(void);
void undead_main_returned(const undead_call_site *site);

// Signals that start a look for leaks: SIGTERM and SIGINT where the program would die of them, and the request signal.

// Takes the signals over that have their default action now. Called with one thread, before main.
void undead_signals_begin(void);

// Gives them back, for good.
void undead_signals_end(void);

// After a fork: no signal is being answered in the child.
void undead_signals_reset(void);

// If the tool asks for a mark by the state file: begins that generation, and answers. False if it asks for something
// else. Async-signal-safe.
bool undead_generation_on_request(void);

#pragma GCC visibility pop
