// Partial backtraces (UNDEAD_STACKS=hybrid): where nearly each block has another stack, to find the outer frames is what
// costs. There most blocks get the innermost frames only, to the functions of the program; where stacks are the same
// again and again, which is cheap, all of them are whole.
#pragma once
#include "unwind/known_x86_64.h"

#pragma GCC visibility push(hidden)

// The id of a partial backtrace of the block at hand; 0 if it has to be a whole one. `frame` called those of the site.
uint32_t undead_partial_capture(undead_unwind_cache *cache, uintptr_t stack_high, const undead_known_site *site,
                                undead_frame frame);

// A whole backtrace was found the long way: decides how many blocks of the site may do with a partial one now.
void undead_partial_walked(undead_unwind_cache *cache, const undead_known_site *site);

#pragma GCC visibility pop
