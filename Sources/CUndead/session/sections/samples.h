// What a snapshot says of a sample of the allocations (record/sample.h).
#pragma once
#include "session/sections/snapshot_sections.h"

#pragma GCC visibility push(hidden)

// Estimates of what each backtrace has allocated since the start; nothing if allocations are not sampled.
void undead_samples_write(undead_writer *writer);

#pragma GCC visibility pop
