// How long a system call with a timeout has still to wait when it is made again.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Changes the arguments of a call that a stop of this thread has ended. Functions of libc return right after such a call; other code
// may use once more what it had in a register, and begins anew. Async-signal-safe.
void undead_take_rest_of_time(int32_t tid, long number, bool in_libc, uint64_t arguments[5]);

#pragma GCC visibility pop
