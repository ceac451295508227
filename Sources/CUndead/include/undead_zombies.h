// The zombie sniffer and how it is started.
#pragma once
#include "undead_sniffer.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Starts to keep dead objects, and to record allocations if that is not done yet. If it runs already, takes over the
// options but for `guard`. Returns false if it cannot work here: undead_zombie_inactive_reason() says why.
bool undead_zombies_start(const undead_zombie_options *options);

#ifdef __cplusplus
}
#endif
