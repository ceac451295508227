// The log of zombies in the session directory (Documentation/session-protocol.md), or in memory alone.
#pragma once
#include "undead_sniffer.h"
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Where the log of this process goes. Without: to memory, for undead_zombies_copy_log().
void undead_zombie_log_set_place(const char *directory, uint32_t generation, uint32_t flags);
void undead_zombie_log_set_flags(uint32_t flags);
// Begins the child's own log with its first zombie, not now. Async-signal-safe.
void undead_zombie_log_after_fork_in_child(uint32_t generation);

// An entry of the log; 0: none.
typedef uint64_t undead_log_entry;

// Writes a zombie; returns 0 if there is no log, or no room (counted). `note`: what else is known, or "". One caller at
// a time. Async-signal-safe, as are those that change an entry.
undead_log_entry undead_zombie_log_add(const undead_zombie *zombie, const char *note);
void undead_zombie_log_count(undead_log_entry entry, uint64_t count);
// What the entry says was explained better by what came next.
void undead_zombie_log_void(undead_log_entry entry);
// Notes which signal ends the program, 0 for none. Async-signal-safe.
void undead_zombie_log_signal(int signal);
void undead_zombie_log_counters(const undead_zombie_counters *counters);

#pragma GCC visibility pop
