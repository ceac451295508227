// Memory that the program locks (mlockall).
#pragma once

#pragma GCC visibility push(hidden)

// Looks up the interposed function while that is still safe.
void undead_locks_find_next(void);

#pragma GCC visibility pop
