// The zombie sniffer as the session sees it: begun before main, called at forks and at the end.
#pragma once
#include "undead_sniffer.h"
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Starts to keep dead objects: undead_zombies_start, when allocations are recorded.
bool undead_zombies_turn_on(const undead_zombie_options *options);

// True once blocks may have been handed out that only free() of ours can take back.
bool undead_zombies_have_pool(void);
// Calls `see` for each block of the sample that lives, with what glibc has in its place (0: nothing). In a copy of a process: its
// registry does not know the first, and its allocator says that the second is used.
void undead_zombies_each_sampled(void (*see)(uintptr_t block, uintptr_t twin));
// In a process whose images call the runtime's functions: they come to ours where the sample needs that, when the hooks are
// attached. True also without such images.
bool undead_zombies_attach(void);
// Begins the log, so that it is there also when nothing is ever found.
void undead_zombie_log_begin(void);

// Calls `start`, which is undead_zombies_start, if the environment asks for it. `directory` of the session ("": none)
// and generation of its state file say where the log goes.
void undead_zombies_begin(const char *directory, uint32_t generation, bool (*start)(const undead_zombie_options *));

// After undead_zombies_stop: no more system calls for objects that still have pages of their own. They stay.
void undead_zombies_keep_pages(void);

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
