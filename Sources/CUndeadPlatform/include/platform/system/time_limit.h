// How long a scan may take until it is given up: a thread that waits for one, or stands still, waits longer.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Sets the limit anew, for the memory that the process has now, or as UNDEAD_SCAN_SECONDS says. Before a scan.
void undead_scan_limit_refresh(void);

uint32_t undead_scan_limit_seconds(void);

#pragma GCC visibility pop
