// What a tool that runs as root does for another user, and to one process and no other: what Swift cannot call itself.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Gives this thread alone, not the process, the rights to files that a user has. 0, or minus the error number: then the thread
// has its rights as they were, unless those cannot be restored, which ends the process.
int undead_trace_use_files_as(uid_t user, gid_t group, const gid_t *groups, size_t count);

// A descriptor of a process, whose number may be given to another one when it has ended; minus the error number if there is none.
int undead_trace_process(pid_t pid);

// Sends a signal to the process of such a descriptor; minus the error number if it failed.
int undead_trace_signal(int process, int signal);

// What waits to be read in a pipe or a local socket of the process of such a descriptor, up to `room` bytes; 0 if nothing does, the
// file is of another kind, or it may not be looked at. `*more`: there may be others. The bytes stay where they are.
size_t undead_trace_unread(int process, int file, char *bytes, size_t room, bool *more);
// Whether the file is of such a kind.
bool undead_trace_keeps_unread(int process, int file);
