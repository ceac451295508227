// Replacing the program by another image: noted, since the new one may be one that the library cannot be loaded into.
#pragma once

#pragma GCC visibility push(hidden)

// Looks up the interposed functions while that is still safe.
void undead_exec_find_next(void);

#pragma GCC visibility pop
