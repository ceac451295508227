// Limits of its memory that the program sets itself (setrlimit). What the instrument needs comes on top, so that the
// program has as much as without it, and it reads back the limits that it has set.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

// Looks up the interposed functions while that is still safe.
void undead_limits_find_next(void);

// The same for limits that the process was started with, as far as it may raise them. When recording begins.
void undead_limits_begin(void);

// A program is to have the limits that this one has set: before it takes the place of this one (`process` 0), or right
// after it was started as a child. If it does not take the place, this one keeps its own.
void undead_limits_hand_on(pid_t process);
void undead_limits_keep(void);

// prlimit() for this process as the program means it.
int undead_limits_change(int resource, const struct rlimit *limit, struct rlimit *old);

// While the last check of a process runs, its limits do not hold, as far as the system allows: the check needs memory, a
// file, a thread and a process that the program does not need any more.
typedef struct {
  struct rlimit before[RLIM_NLIMITS];
} undead_lifted_limits;

void undead_limits_lift(undead_lifted_limits *lifted);
void undead_limits_restore(const undead_lifted_limits *lifted);

#pragma GCC visibility pop
