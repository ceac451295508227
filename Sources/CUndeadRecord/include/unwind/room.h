#pragma once

#pragma GCC visibility push(hidden)

// Runs `work(context)` where there is room for it: 64 KiB of stack, the calling thread's if it has so much left.
void undead_run_with_room(void (*work)(void *), void *context);

#pragma GCC visibility pop
