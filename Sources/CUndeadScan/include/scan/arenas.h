// Which arenas glibc's malloc has.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// `start` is where the arena's struct begins, `top` the chunk at its end.
typedef void (*undead_arena_visitor)(void *context, uintptr_t start, uintptr_t top, bool main);

// Calls `visit` for each arena of a process that goes on, the main one first; for none if they do not agree at this moment.
void undead_arenas_each(undead_arena_visitor visit, void *context);

#pragma GCC visibility pop
