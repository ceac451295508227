// Limits of its memory that the program sets itself (setrlimit). What the instrument needs comes on top, so that the
// program has as much as without it, and it reads back the limits that it has set.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#pragma GCC visibility push(hidden)

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

// Sandboxes that a program puts itself into: filters of system calls (seccomp). What a filter does can neither be asked nor tried,
// since it may kill. So the instrument stands aside before one is installed. Filters that were there before, such as those of a
// container or a service manager, hold for the tool, too, and are known to do no harm (record/reach.h).

// True if the calling thread has filters that were installed unseen, by a system call that did not go through libc.
bool undead_sandbox_is_unknown(void);

// Looks up the interposed functions while that is still safe.
void undead_sandbox_find_next(void);

// How the instrument gets through the programs of the toolchain (`swift test`) into the test programs that they start.
//
// In a program of the toolchain the variables that brought us there are hidden: SwiftPM would evaluate every manifest
// anew for another environment, and neither compilers nor linkers need the library. They are handed on to test programs.

// In a program of the toolchain: hides the variables and begins to hand them on. Elsewhere they are left as they are.
void undead_relay_begin(const char *session);

// Pointers of room that `undead_relay_environment` needs to start a program with `environment`.
size_t undead_relay_room(char *const *environment);

// The environment for `program`: `environment` itself, or a copy in `room` with the variables.
// `in_place`: the program replaces this process (exec).
char *const *undead_relay_environment(const char *program, bool in_place, char *const *environment, char **room);

#pragma GCC visibility pop
