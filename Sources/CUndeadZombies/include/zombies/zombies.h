// The zombie sniffer as the session sees it: begun before main, told of forks and of the end.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Starts it if the environment asks for it. `directory` of the session ("": none) and generation of its state file say
// where the log goes.
void undead_zombies_begin(const char *directory, uint32_t generation);

void undead_zombies_before_fork(void);
void undead_zombies_after_fork_in_parent(void);
// Before anything else of ours runs in the child. `generation` of its own state file follows.
void undead_zombies_after_fork_in_child(void);
void undead_zombies_adopt_child(uint32_t generation);

// Brings the log up to date. True if the policy's trap is due: an object was retained after its death, and nothing that
// followed has stopped the program.
bool undead_zombies_note_end(void);
_Noreturn void undead_zombies_trap(void);

#pragma GCC visibility pop
