// One look for leaks: a scan and its snapshot, on a thread made for it. At most one is under way in a process.
#pragma once
#include "platform/maps/maps.h"
#include "scan/scan.h"
#include "session/state/check_data.h"
#include "undead_backtraces.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Claims the check, which then has all fields 0, or returns NULL if another one is under way. Async-signal-safe.
undead_check *undead_check_try_claim(void);

// The same, waiting for the other one; NULL if that one makes no progress any more.
undead_check *undead_check_claim(void);

// Starts the thread for a claimed check. On failure fills in the message and returns false: the claim remains.
bool undead_check_start(undead_check *check);

// Waits for a started check. False if it makes no progress any more: it is then given up, never to be claimed again.
bool undead_check_wait(undead_check *check);

// Lets the check that runs when the program ends finish it by `signal`. False if that check does not run, or is to end
// by a signal already. Async-signal-safe.
bool undead_check_end_with(int signal);

// Gives the claim back.
void undead_check_release(undead_check *check);

// Around a signal handler that may start a check. The check waits, not for long, until handlers have ended: the frames
// of one on the interrupted stack hold what ended calls left there, which would hide leaks. Async-signal-safe.
void undead_check_handler_begins(void);
void undead_check_handler_ends(void);

// Around a fork: the child must not inherit locks of the Swift runtime or of the loader that the thread of a check
// holds, since nobody would release them. Waits for a check under way, not for long, and keeps new ones from starting.
void undead_check_before_fork(void);
void undead_check_after_fork_in_parent(void);
void undead_check_after_fork_in_child(void);

// What is a leak stays a leak: each check looks at what became of the leaks that earlier ones found (record/claims.h).

// Before the scan: asks for the paths to what earlier checks called leaks.
void undead_refute_prepare(undead_check *check);
// After it: compares, remembers what leaked if the program goes on, and takes what was asked for out of the result.
void undead_refute_compare(undead_check *check, undead_scan_result *result);

// Begins checks at each UNDEAD_RECHECK milliseconds, on a thread of their own, that only compare.
void undead_recheck_begin(void);

// Whether a live block can be a leak of the program at all, by who allocated it and by its first word.

// False only if no search would report the block: it belongs to a test library, is memory of a task, or is neither a Swift object
// nor memory that Swift code of the program asked for. While the program runs; with the lock of checks held.
bool undead_may_be_leak(uintptr_t block, uint32_t backtrace);

// Keeps what undead_scopes_held_by_threads shows.
void undead_held_scopes_note(const undead_scan_result *result);

// Under the lock of checks: a loaded library, by a part of its path; and whether a return address is in none of the toolchain's.
const undead_module *undead_left_library(const char *name);
bool undead_left_is_of_program(uintptr_t frame);

// What a block of C on the heap begins with.
uintptr_t undead_left_metadata_of_blocks(const undead_module *dispatch);

// The blocks that the registers of a thread, and its stack from the stack pointer up, name by their beginnings.
enum { UNDEAD_NAMED_BLOCKS = 256 };
typedef struct {
  uintptr_t blocks[UNDEAD_NAMED_BLOCKS];
  uint32_t count;
  bool whole;   // all of them are there
} undead_named_blocks;

// undead_thread_backtrace, and what the stack names at the same moment.
uint32_t undead_thread_look(int32_t tid, uintptr_t *frames, uint32_t max, undead_named_blocks *named);

#pragma GCC visibility pop
