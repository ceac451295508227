#pragma once

#pragma GCC visibility push(hidden)

// From now on this process captures without libunwind.
void undead_libunwind_forbid(void);

#pragma GCC visibility pop
