// Words that only the kernel keeps for the program: the data of epoll registrations, buffers that io_uring has
// and completions for which its ring had no room, the values of POSIX timers, those of signals that wait to be
// delivered.
#pragma once
#include "scan/roots/copies.h"
#include "world/intervals.h"
#include "world/world.h"

// Lists them in room of `copies`; an empty interval if there are none, or they may not be read. `*unseen`: there may be
// others that the kernel does not tell. World stopped.
undead_interval undead_kernel_held_words(undead_copies *copies, const undead_world *world, bool *unseen);
