// Calls of the system that are given memory of the program.
#pragma once
#pragma GCC visibility push(hidden)

// Early: they are called in signal handlers.
void undead_buffer_find_next(void);
// In a process that runs already.
void undead_buffer_attach(void);

#pragma GCC visibility pop
