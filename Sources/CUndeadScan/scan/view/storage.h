// The memory of a result: reserved before the world is stopped, so that a copy of the program can fill it.
#pragma once
#include "scan/scan.h"
#include <stddef.h>

typedef struct {
  undead_scan_result result;   // first: what the caller gets
  size_t mapped;               // bytes of the whole area, this header included
  uint32_t node_limit, edge_limit, path_limit, step_limit, suspect_limit;
} undead_storage;

// With room for what `options` ask for; shared with forked copies if they want one. NULL without memory.
undead_storage *undead_storage_open(const undead_scan_options *options);
// Forgets what an attempt to scan found.
void undead_storage_clear(undead_storage *storage, const undead_scan_options *options);
void undead_storage_close(undead_storage *storage);
