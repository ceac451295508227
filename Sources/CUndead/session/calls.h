#pragma once

// Clears the stack of the calling thread below the caller's frame, for the end of a thread of ours: glibc keeps the stack
// for another one, in whose frames addresses of leaked objects would be references.
void undead_discard_stack(void);
