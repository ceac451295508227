// What assertions are made of: which allocations belong to which test, calls that leave no trace on the stack above
// them, and counts of live objects.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Allocation scopes. While one is open, the record of each new block tells the scope of the code that allocated it:
// the value of a task-local variable, so that child tasks inherit it.

// Names the task-local variable: the address of its `TaskLocal` object, whose values are scopes (uint32_t, 0: none).
void undead_scopes_use_task_local(const void *key);

// Opens a scope; its number is never used again in this process. 0 if there are no numbers left.
uint32_t undead_scope_open(void);
void undead_scope_close(uint32_t scope);

// New blocks do not come to addresses that stand in the memory of the running task, until no scope is open any more:
// variables in its frames that are not in use hold addresses of what was freed. For who has just opened a scope.
void undead_scope_avoid_task(void);

// Scope of the code that allocated the live block at `block`; 0 if it has none or is not known.
uint32_t undead_scope_of_block(const void *block);

// A moment before a scope is opened, for undead_scope_has_survivors.
uint32_t undead_scope_mark(void);

// False if no block is left that may have been allocated in `scope`, in a scope opened after it, or in none, since
// `mark`: then nothing of it can have leaked. With `certain` only blocks that are known to be of the scope count. It
// looks at no memory but the records of the blocks, and stops nobody.
bool undead_scope_has_survivors(uint32_t scope, uint32_t mark, bool certain);

// Writes what undead_scope_of_block returns for blocks that the last look for leaks found alive, but only from the stacks
// and registers of threads other than the one that asked for it: at most `max`. Returns their number. Under
// undead_lock_checks.
uint32_t undead_scopes_held_by_threads(uint32_t *scopes, uint32_t max);

// The scope of code that runs in none: one that is the only one that runs now, or 0.
void undead_scopes_set_sole(uint32_t scope);

// Set in what undead_scope_of_block returns for blocks of code that ran in no scope, while that one was the sole one.
#define UNDEAD_SCOPE_SOLE 0x20000000u

// What undead_scope_of_block returns for blocks that were allocated while scopes were open, but in none of them.
#define UNDEAD_SCOPE_OUTSIDE 0x1FFFFFFFu

// Sets the variable for the calling task, or for the thread if it runs none, and for the tasks that are started there,
// until undead_scope_pop in the same place. `uint32_type` is the metadata of Swift's UInt32. False if it cannot be set.
bool undead_scope_push(uint32_t scope, const void *uint32_type);
void undead_scope_pop(void);

// Holds the memory of a Swift object, but not the object: no other object comes to its address until it is let go.
// Both work at any moment of its life, on any thread, and run no code of the object.
void undead_object_hold(const void *object);
void undead_object_let_go(const void *object);
// True until deinitialisation begins.
bool undead_object_is_alive(const void *object);

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
void *undead_task_leave_room(void);
void undead_task_take_room(void *room);

// Calls `function` on a thread of its own, and does not wait for it. False if no thread could be made.
bool undead_call_on_thread(void (*function)(void *), void *context);

// One thread at a time may look at addresses of leaked objects: they would be references to whoever scans meanwhile.
// Not recursive. A forked child does not wait for a thread that it does not have.
void undead_lock_checks(void);
void undead_unlock_checks(void);

#define UNDEAD_CENSUS_SCOPES 64
#define UNDEAD_CENSUS_SAMPLES 3

// The live objects of a type.
typedef struct {
  uintptr_t isa;             // for a class its metadata
  uint64_t objects, bytes;
  uint32_t kind;             // 1: a class; others are closure contexts and the like
  uint32_t samples, reached_samples;
  uint32_t born[UNDEAD_CENSUS_SCOPES];       // how many of them were born in each scope that was asked for
  uintptr_t sample[UNDEAD_CENSUS_SAMPLES];   // some objects, of the last of these scopes; the first ones are reached
} undead_census_entry;

// Counts all objects that were allocated since recording began and are not deinitialised, while the threads stand
// still. Returns `*count` entries, or NULL with the reason in `message`. The memory belongs to the caller until
// undead_census_release; scans do not look at it.
undead_census_entry *undead_census_take(const uint32_t *scopes, uint32_t scope_count, size_t *count, char *message,
                                        size_t message_size);
void undead_census_release(undead_census_entry *entries);

#ifdef __cplusplus
}
#endif
