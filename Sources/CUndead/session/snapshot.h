// Snapshots (Documentation/snapshot-format.md): what a scan found, with its names, as one file or block of memory.
#pragma once
#include "session/check.h"
#include "session/output.h"

#pragma GCC visibility push(hidden)

// Names what the scan found and writes it where the check wants it; the reason of a failure goes to the check.
bool undead_snapshot_make(undead_check *check, const undead_scan_result *result);

// Removes the file that was being written when undead_snapshot_make was left by a crash.
void undead_snapshot_discard(void);

// Writes a whole snapshot to `output`; errors stay there.
void undead_snapshot_serialize(undead_output *output, const undead_check *check, const undead_scan_result *result);

#pragma GCC visibility pop
