// Snapshots (Documentation/snapshot-format.md): what a scan found, with its names, as one file or block of memory.
#pragma once
#include "session/state/check_data.h"
#include "session/buffers/output.h"

#pragma GCC visibility push(hidden)

// Before the scan: opens the file, and prepares what else the check wants to be in it; the reason of a failure goes to the
// check. Afterwards, in any case, comes undead_snapshot_end.
bool undead_snapshot_begin(undead_check *check);
// Closes the file, and removes it if it was not completed.
void undead_snapshot_end(undead_check *check);

// Names what the scan found and writes it where the check wants it; the reason of a failure goes to the check.
bool undead_snapshot_make(undead_check *check, const undead_scan_result *result);

// Removes the file that was being written when undead_snapshot_make was left by a crash.
void undead_snapshot_discard(void);

// Bytes of the header and the section table, behind which everything else lies.
uint64_t undead_snapshot_room(void);

// Writes a whole snapshot to `output`; errors stay there.
void undead_snapshot_serialize(undead_output *output, const undead_check *check, const undead_scan_result *result);

#pragma GCC visibility pop
