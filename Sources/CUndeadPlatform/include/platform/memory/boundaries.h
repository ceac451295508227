// Keeps the heap away from addresses that stale words look like.
#pragma once

#pragma GCC visibility push(hidden)

// A number of 32 bits that is written over half of an old pointer leaves the pointer's upper half: with a small number
// it points right behind a multiple of 4 GiB. One heap of malloc in 64 lies there, and numbers on stacks then hide what
// leaked in it. So the next of these places are reserved, without memory behind them. Call it before threads have heaps.
void undead_reserve_boundaries(void);

// Gives them back, if addresses become scarce.
void undead_release_boundaries(void);

#pragma GCC visibility pop
