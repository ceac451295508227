// Whether and how allocations are recorded.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef enum {
  UNDEAD_RECORD_UNDECIDED = -1,   // nobody asked yet: the environment decides at the first allocation
  UNDEAD_RECORD_OFF = 0,
  UNDEAD_RECORD_BLOCKS = 1,       // blocks without backtraces
  UNDEAD_RECORD_BACKTRACES = 2,
  UNDEAD_RECORD_SAMPLED = 4,      // blocks, and the backtraces of a sample of them (record/sample.h)
} undead_mode;

// Defined, as 1, by the preload library only: it records from the first allocation on.
extern const int undead_is_preload __attribute__((weak));

// Changed by the functions below only (record/way.h).
extern volatile int32_t undead_record_mode;

// False where the hooks are compiled out because a sanitizer owns the allocator.
extern const bool undead_hooks_available;

// Reads the environment (without malloc) and sets the mode, unless it is decided already. Returns the mode to use now.
int32_t undead_record_decide(void);

typedef enum { UNDEAD_STACKS_NONE, UNDEAD_STACKS_SAMPLED, UNDEAD_STACKS_FULL } undead_stacks;
// True if the environment asks for a sample of the uses of dead objects (UNDEAD_ZOMBIES=sampled), and for no recording beside it.
// Assertions need that: never in a test program.
bool undead_record_is_left_out(void);

// Which backtraces the environment asks for (Documentation/options.md).
undead_stacks undead_record_stacks_wanted(void);

// True if recording with backtraces is to keep those of a sample only: it was set, or the environment says so.
bool undead_record_samples(void);

// Switches recording on or off; blocks allocated while it was off stay unknown. Any thread, any time.
void undead_record_start(undead_mode mode);
void undead_record_stop(void);

// The process may not have more than `limit` bytes of addresses from now on: gives back what is only reserved.
void undead_record_limit_addresses(uint64_t limit);

// Call in the child of a fork: forgets what belonged to the threads that the child does not have.
void undead_record_after_fork_in_child(void);

#pragma GCC visibility pop
