// How the instrument gets through the programs of the toolchain (`swift test`) into the test programs that they start.
//
// In a program of the toolchain the variables that brought us there are hidden: SwiftPM would evaluate every manifest
// anew for another environment, and neither compilers nor linkers need the library. They are handed on to test programs.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// In a program of the toolchain: hides the variables and begins to hand them on. Elsewhere they are left as they are.
void undead_relay_begin(const char *session);

// Pointers of room that `undead_relay_environment` needs to start a program with `environment`.
size_t undead_relay_room(char *const *environment);

// The environment for `program`: `environment` itself, or a copy in `room` with the variables.
// `in_place`: the program replaces this process (exec).
char *const *undead_relay_environment(const char *program, bool in_place, char *const *environment, char **room);

#pragma GCC visibility pop
