#pragma once

// Clears the stack of the calling thread below the caller's frame, for the end of a thread of ours: glibc keeps the stack
// for another one, in whose frames addresses of leaked objects would be references.
void undead_discard_stack(void);

// For the end of a signal handler: clears what it left on an alternate signal stack, which is memory like any other to a
// scan. Async-signal-safe.
void undead_clear_alternate_stack(void);
