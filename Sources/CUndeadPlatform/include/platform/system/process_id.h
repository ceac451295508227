// The number of the process without a system call, for what is asked several times in each test.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

// As getpid() shows it, also in a forked copy, however it was forked. In a child that borrows the memory (vfork) it is the
// parent's.
int32_t undead_process_id(void);

#pragma GCC visibility pop
