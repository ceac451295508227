// Processes and threads in /proc, which has the numbers of the PID namespace that it was mounted in: a program that has
// gone into a namespace of its own (unshare, clone) without mounting /proc anew has other numbers than stand there.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Finds out how this process is called in /proc. Called in the program, before a helper looks at it.
void undead_proc_ids_refresh(void);

// This process's number in /proc; its own number if /proc does not show.
int32_t undead_proc_process(void);

// The same at this moment, in any process and any state of it. Async-signal-safe.
int32_t undead_proc_self(void);

// The number by which system calls know the thread that /proc/PID/task has as `entry`; 0 if it is gone.
int32_t undead_proc_thread_id(int32_t entry);

// Opens /proc/PID/task/TID/NAME of a thread of the program; negative if that fails.
long undead_proc_open_thread(int32_t tid, const char *name);
// Opens /proc/PID/task.
long undead_proc_open_threads(void);

// Calls `visit` for each entry of a directory of /proc, but for "." and "..", until it returns false. False if the directory cannot
// be read.
bool undead_proc_each_entry(long directory, bool (*visit)(void *context, const char *name), void *context);
// The numbers among the entries of a directory of /proc: calls `visit` for each until it returns false. False if the
// directory cannot be read.
bool undead_proc_each_number(long directory, bool (*visit)(void *context, int32_t number), void *context);
