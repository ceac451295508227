// What is a leak stays a leak: each check looks at what became of the leaks that earlier ones found (record/claims.h).
#pragma once
#include "session/check/check.h"

#pragma GCC visibility push(hidden)

// Before the scan: asks for the paths to what earlier checks called leaks.
void undead_refute_prepare(undead_check *check);
// After it: compares, remembers what leaked if the program goes on, and takes what was asked for out of the result.
void undead_refute_compare(undead_check *check, undead_scan_result *result);

// Begins checks at each UNDEAD_RECHECK milliseconds, on a thread of their own, that only compare.
void undead_recheck_begin(void);

#pragma GCC visibility pop
