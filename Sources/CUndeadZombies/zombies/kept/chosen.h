// Which blocks come to the pool, and how they die.
#pragma once
#include "zombies/kept/pool.h"

#pragma GCC visibility push(hidden)

// One of so many blocks of Swift's comes to the pool from now on; `by_name`: and all objects of the types in the list for pages.
void undead_chosen_begin(uint32_t one_in, bool by_name);
// The same with storage of the library and raw memory alone: all of it, while that costs little.
void undead_chosen_begin_with_storage(void);
void undead_chosen_end(void);
void undead_chosen_after_fork_in_child(void);
// A block like this one was used after its death: from now on, and for a while, all that are made at the same place come to the
// pool. Async-signal-safe.
void undead_chosen_watch(const undead_fenced_slot *slot);
// A backtrace of the pool among those that are kept for good.
uint32_t undead_chosen_keep(const undead_fenced_frames *frames);
// The calling thread, as far as it shows an order. Async-signal-safe.
undead_fenced_actor undead_chosen_actor(void);

#pragma GCC visibility pop
