// The environment variables of the zombie sniffer (Documentation/options.md).
#pragma once
#include "undead_sniffer.h"

#pragma GCC visibility push(hidden)

// True if UNDEAD_ZOMBIES asks for it; then the options are filled in, beginning with the defaults.
bool undead_zombie_options_of_environment(undead_zombie_options *options);

#pragma GCC visibility pop
