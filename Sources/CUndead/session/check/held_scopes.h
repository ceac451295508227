#pragma once
#include "scan/scan.h"

// Keeps what undead_scopes_held_by_threads shows.
void undead_held_scopes_note(const undead_scan_result *result);
