// The hooks in a program that was started without them: the pointers through which its images call the allocator are changed.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// True in a library that is not the first to be asked for malloc, as one that was opened late: calls come to its hooks only
// if they are sent there.
bool undead_hooks_are_passed_by(void);

// Why the hooks cannot be put in, in one sentence that is valid until the next call, or NULL.
const char *undead_attach_obstacle(void);

// A function, and what is called in its place.
typedef struct {
  const char *name;
  uintptr_t replacement;
  uintptr_t function;   // 0: libc's of that name
} undead_replacement;

// Calls of these are sent to their replacements, too, when the hooks are attached next. False, and none of them is, if there would
// be more than 32 in all.
bool undead_attach_others(const undead_replacement *others, size_t count);

// Sends the calls of all images to the hooks, or back to the allocator; returns how many pointers were changed.
size_t undead_attach_hooks(void);
size_t undead_detach_hooks(void);
bool undead_hooks_are_attached(void);

// Forgets all blocks and backtraces and gives their memory back to the system. Not while a thread is in a hook.
void undead_record_forget_all(void);

// In a copy of a process that was recorded, before its allocator is asked which blocks there are (undead_registry_see): ends
// recording, and brings the backtraces into the registry. False if a thread was just changing the samples.
bool undead_record_in_copy(void);
// What was recorded is about to be written.
void undead_record_tell_in_copy(void);

#pragma GCC visibility pop
