// PID namespaces that the program has made for its children (unshare): threads and helpers cannot be made while it is set
// to put them there.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

// Has the calling thread make threads and processes in its own PID namespace; false if it may not, or does so already.
// `for_good`: even if it could not be set back. `undead_namespace_leave_own` sets it back.
bool undead_namespace_enter_own(int *before, bool for_good);
void undead_namespace_leave_own(int before);

#pragma GCC visibility pop
