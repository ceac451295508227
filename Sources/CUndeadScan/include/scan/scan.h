// What can be asked of a scan.
#pragma once
#include "runtime/found.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum { UNDEAD_SCAN_IN_PLACE = 0, UNDEAD_SCAN_FORK = 1 } undead_scan_mode;

// An object whose retain path is wanted, and how to know that it is still the same one.
typedef struct {
  uintptr_t object;
  uintptr_t isa;           // its first word, 0: any
  uint64_t side_table;     // its second word if that names a side table, else 0
  bool any_block;          // it need not be an object
} undead_watched_target;

// A block that a run loop holds and fires.
typedef struct {
  uintptr_t object;
  uintptr_t loop;          // the run loop object, 0 if it is not known
} undead_loop_item;

typedef struct {
  undead_scan_mode mode;
  bool suspects;                     // look for suspects too
  bool only_dead_owners;             // of the suspects only what waits for deallocated owners, without paths
  bool unknown_blocks;               // recording began late: what malloc handed out before may hold recorded blocks
  const undead_watched_target *watched;
  uint32_t watched_count;
  const undead_loop_item *loop_items;
  uint32_t loop_item_count;
  struct undead_census *census;      // not NULL: only count the live objects
  struct undead_graph *graph;        // not NULL: stream the whole heap into its file, too
  bool counts_only;                  // with a census: mark nothing, and count all blocks
  bool ends;                         // the process ends after it, and the thread that asked does not return
  // The thread that asked, as it was before any code of ours ran on it (0: scan it like every other thread).
  int32_t caller_tid;
  uintptr_t caller_sp;
  uintptr_t caller_registers[8];     // rbx rbp r12 r13 r14 r15 at that point
  uintptr_t caller_pc, caller_frame; // where the call of ours returns to, and the stack pointer then; 0: unknown
  uintptr_t kept_at;                 // filled in by undead_scan: the registers that are kept there are no variable of the program
} undead_scan_options;

// The calling thread is the one that asked. `frame` is that of the function it called, which has saved the caller's registers
// right below it (__builtin_unwind_init): what lies deeper is ours, not the program's.
void undead_scan_called_from(undead_scan_options *options, const void *frame);

// Runs a scan from the calling thread, which must be the tool's own (it is not a root). Never fails silently.
undead_scan_result *undead_scan(const undead_scan_options *options);
void undead_scan_free(undead_scan_result *result);
