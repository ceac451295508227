// A small number for each thread that a stop has to do with.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { UNDEAD_THREAD_SLOTS = 512 };

// The thread's number below UNDEAD_THREAD_SLOTS, which it keeps until it ends; -1 if there is none left near its own.
// Async-signal-safe.
int undead_thread_slot(int32_t tid);

#pragma GCC visibility pop
