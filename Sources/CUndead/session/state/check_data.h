// What a check is asked for, and what came of it: passed from those that start one (session/check/check.h) to those that write its
// snapshot.
#pragma once
#include "scan/proof.h"
#include "scan/scan.h"
#include <stddef.h>

typedef struct undead_facts undead_facts;

typedef struct {
  char trigger[32];               // `exit`, `signal N`, `request`, `api`
  undead_scan_options options;
  undead_facts *facts;            // what the layers above know; NULL if there are none
  bool in_session;                // numbered snapshot in the session directory, progress in the state file
  bool to_memory;                 // else, out of a session: to the file `path`
  char path[1024];
  bool counts_types;              // no snapshot, but a census file
  bool compares_only;             // no snapshot: what leaked is compared with what leaked before (session/check/check.h)
  bool with_heap;                 // the snapshot is to be a heap file
  undead_proof *proof;            // not NULL: only this is searched for, while the program runs
  int final_signal;               // ends the process with this signal when done; 0: none
  bool unattended;                // nobody waits for the result
  // While it is under way.
  int file;                       // the snapshot, -1: none is open
  // Results.
  bool succeeded;
  bool without_swift;             // no Swift runtime: there is nothing to look for
  char message[512];              // why it failed
  void *bytes;
  size_t size;
} undead_check;
