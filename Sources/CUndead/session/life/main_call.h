// The call of the program's main, which libc_start.c leads through a stub (stubs_x86_64.c) that notes where it came from.
#pragma once
#include "session/life/exit.h"

#pragma GCC visibility push(hidden)

typedef int (*undead_main_function)(int, char **, char **);
extern undead_main_function undead_program_main;

// Takes the place of the program's main.
int undead_main_stub(int count, char **arguments, char **environment);

// Called by the stub; returns the function to jump to.
undead_main_function undead_main_called(const undead_call_site *site);

#pragma GCC visibility pop
