// What a snapshot says of leaks that earlier checks found and that turned out to be none (record/claims.h).
#pragma once
#include "session/sections/snapshot_sections.h"

#pragma GCC visibility push(hidden)

// Nothing if there are none.
void undead_refuted_write(undead_writer *writer);

#pragma GCC visibility pop
