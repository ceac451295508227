#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// If the tool asks for a mark by the state file: begins that generation, and answers. False if it asks for something
// else. Async-signal-safe.
bool undead_generation_on_request(void);

#pragma GCC visibility pop
