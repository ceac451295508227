// What assertions are made of: which allocations belong to which test, calls that leave no trace on the stack above
// them, and counts of live objects.
#pragma once
#include "undead_census.h"
#include "undead_objects.h"
#include "undead_scopes.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// New blocks do not come to addresses that stand in the memory of the running task, or of those that wait for it, until no scope is open any more:
// variables in its frames that are not in use hold addresses of what was freed. For who has just opened a scope.
void undead_scope_avoid_task(void);

// Looks at the process once, and counts nothing: new blocks do not come to addresses that stale references name, until no scope
// is open any more. Under undead_lock_checks.
void undead_avoid_dangling(void);

// False if no block is left that may have been allocated in `scope`, in a scope opened after it, or in none while those ran,
// since `mark`: then nothing of it can have leaked. It looks at no memory but the records of the blocks and their first
// words, and stops nobody.
bool undead_scope_has_survivors(uint32_t scope, uint32_t mark);

// The same, and false as well if all of these blocks are certainly alive: global variables lead to them, or the object
// `holder` (NULL: none), which code that waits for this call holds. Nobody is stopped for that either.
bool undead_scope_may_have_leaks(uint32_t scope, uint32_t mark, const void *holder);

// What was started and has not ended.
#define UNDEAD_LEFT_FRAMES 48
typedef struct {
  uint32_t kind;           // UNDEAD_LEFT_*
  uint32_t status;         // of a task: the flags of its status
  uint32_t scope;          // as undead_scope_of_block returns it; 0 for a thread of which it is not known
  uint32_t frame_count;
  uintptr_t frames[UNDEAD_LEFT_FRAMES];   // where a task waits, where a timer or call was made, what a thread or block does
} undead_left_work;
#define UNDEAD_LEFT_TASK 1u
#define UNDEAD_LEFT_TIMER 2u
#define UNDEAD_LEFT_CALL 3u      // asyncAfter
#define UNDEAD_LEFT_THREAD 4u
#define UNDEAD_LEFT_BLOCK 5u     // that runs on a queue

// Tasks that have not ended, and timers and delayed calls of libdispatch that are to come, of what was allocated in scopes since `mark`:
// at most `max`. One entry of UNDEAD_LEFT_BLOCK says that there are blocks of C, which may run. The program goes on meanwhile. Returns
// their number.
uint32_t undead_left_work_since(uint32_t mark, undead_left_work *list, uint32_t max);

// The image that code lies in, for the names of its functions; false if it is in none.
typedef struct {
  uintptr_t low, high, bias;
  bool toolchain;
  const char *path, *build_id;   // valid until the next check
} undead_left_module;
bool undead_left_module_of(uintptr_t address, undead_left_module *module);

// True for a thread that runs code of the program; for one of a pool, if a block of C brought it there whose scope is known.
bool undead_left_thread(int32_t tid, undead_left_work *work);

// Writes what undead_scope_of_block returns for blocks that the last look for leaks found alive, but only from the stacks
// and registers of threads other than the one that asked for it: at most `max`. Returns their number. Under
// undead_lock_checks.
uint32_t undead_scopes_held_by_threads(uint32_t *scopes, uint32_t max);

// The calling thread's stack as libunwind sees it: return addresses, innermost first, from the caller of this function
// on. Returns their number.
uint32_t undead_exact_backtrace(uintptr_t *frames, uint32_t max);

// Calls `function` some KiB deeper in the stack: what it leaves there lies below the frames of later calls.
void undead_call_deeper(void (*function)(void *), void *context);

// Clears the stack below the caller's frame: later frames there hold no addresses of what was freed, which by then
// may be those of new objects.
void undead_clear_stack(void);

// For the frames of asynchronous functions, which lie in memory of the task: between the two calls, frames of
// what is called are some KiB away from those of the caller, and the memory between them is clear. NULL if no task runs. In pairs, like a stack.
// Both clear the stack, too.
void *undead_task_leave_room(void);
void undead_task_take_room(void *room);

// Calls `function` on a thread of its own, and does not wait for it. False if no thread could be made.
bool undead_call_on_thread(void (*function)(void *), void *context);

// One thread at a time may look at addresses of leaked objects: a scan meanwhile would take them for references.
// Not recursive. A forked child does not wait for a thread that it does not have.
void undead_lock_checks(void);
void undead_unlock_checks(void);

// True if UndeadXCTest is linked into the program.
bool undead_has_xctest(void);

// Has UndeadXCTest fail the running test of XCTest at a line. Does nothing if there is none, or no UndeadXCTest.
void undead_fail_in_xctest(const char *text, const char *file, size_t line);

// Counts all objects that were allocated since recording began and are not deinitialised, while the threads stand
// still. Returns `*count` entries, or NULL with the reason in `message`. The memory belongs to the caller until
// undead_census_release; scans do not look at it.
undead_census_entry *undead_census_take(const uint32_t *scopes, uint32_t scope_count, size_t *count, char *message,
                                        size_t message_size);
void undead_census_release(undead_census_entry *entries);

#ifdef __cplusplus
}
#endif
