// The environment variables that the session obeys, read once: the program may change its environment later.
#pragma once
#include "scan/scan.h"

#pragma GCC visibility push(hidden)

typedef struct {
  char directory[1024];        // UNDEAD_SESSION, "" without a session
  bool turned_off;             // UNDEAD=0
  bool turned_on;              // UNDEAD=1
  bool backtraces;
  bool suspects;
  bool heap;                   // UNDEAD_HEAP=1: the snapshot at the end is a heap file
  bool check_signals;
  int request_signal;          // 0: none
  bool scan_mode_fixed;        // UNDEAD_SCAN is not `auto`
  undead_scan_mode scan_mode;
  bool verbose;
} undead_settings;

// Reads the environment at the first call, which must be made while the program has one thread.
const undead_settings *undead_settings_get(void);

// With UNDEAD_VERBOSE=1, says `message` and `detail` (may be NULL) on standard error, in one line.
void undead_say(const char *message, const char *detail);

#pragma GCC visibility pop
