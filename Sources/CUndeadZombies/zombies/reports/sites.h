// The places in the program where dead objects of a type are used in one way: each is reported some times, then only
// counted.
#pragma once
#include "zombies/reports/report.h"

#pragma GCC visibility push(hidden)

// Counts a use. True if it is to be reported.
bool undead_site_count(const undead_zombie_use *use, uint64_t *count);
// True if the next use there would be reported.
bool undead_site_is_wanted(const undead_zombie_use *use);
// Writes what was found to the log, once for each place, and brings the counters there up to date.
void undead_site_log(const undead_zombie_use *use, const undead_zombie *zombie, const char *note);
// Takes back what was logged of a place that turned out to be none.
void undead_site_forget(const undead_zombie_use *use);

#pragma GCC visibility pop
