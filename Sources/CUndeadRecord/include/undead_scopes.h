// Allocation scopes. While one is open, the record of each new block shows the scope of the code that allocated it:
// the value of a task-local variable, so that child tasks inherit it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Names the task-local variable: the address of its `TaskLocal` object, whose values are scopes (uint32_t, 0: none).
void undead_scopes_use_task_local(const void *key);

// Opens a scope; its number is never used again in this process. 0 if there are no numbers left.
uint32_t undead_scope_open(void);
void undead_scope_close(uint32_t scope);

// Scope of the code that allocated the live block at `block`; 0 if it has none or is not known.
uint32_t undead_scope_of_block(const void *block);

// A moment before a scope is opened, for undead_scope_has_survivors.
uint32_t undead_scope_mark(void);

// What blocks of code that runs in no scope are marked with from now on: one of the marks below with a scope, 0 if none runs.
void undead_scopes_set_outside(uint32_t mark);

// What the calling thread allocates between the two belongs to no scope: what checks keep for themselves, which no test left
// behind. In pairs, on one thread.
void undead_scopes_leave(void);
void undead_scopes_return(void);

// Set in what undead_scope_of_block returns for blocks of code that ran in no scope, with the only one that ran then.
#define UNDEAD_SCOPE_SOLE 0x20000000u
// The same with the newest of several that ran beside each other: which one the block belongs to is not known, but it is not of a
// scope that was opened later.
#define UNDEAD_SCOPE_BESIDE 0x10000000u

// What undead_scope_of_block returns for blocks that were allocated while scopes were open, but none ran.
#define UNDEAD_SCOPE_OUTSIDE 0x1FFFFFFFu

// Sets the variable for the calling task, or for the thread if it runs none, and for the tasks that are started there,
// until undead_scope_pop in the same place. `uint32_type` is the metadata of Swift's UInt32. False if it cannot be set.
bool undead_scope_push(uint32_t scope, const void *uint32_type);
void undead_scope_pop(void);

#ifdef __cplusplus
}
#endif
