// Which way the hooks go, in one word: they look at it in place of all that it is made of.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum {
  // Small blocks of glibc's malloc need no more than
  UNDEAD_WAY_BLOCKS = 1,     // the word of a block without a backtrace,
  UNDEAD_WAY_STACKS = 2,     // or that of its backtrace,
  UNDEAD_WAY_SAMPLED = 4,    // or a byte and now and then a sample.
  UNDEAD_WAY_FREE = 8,       // A block that is freed loses its word, and nobody keeps it.
  UNDEAD_WAY_OFF = 16,       // Nothing is recorded.
  UNDEAD_WAY_EXTRAS = 32,    // The backtrace is watched, or belongs to an asynchronous caller or to a scope,
                             // or addresses are avoided.
  UNDEAD_WAY_CHOOSES = 64,   // Each small block is counted: one of many is chosen (record/block_source.h).
  UNDEAD_WAY_ONLY_CHOOSES = 128,   // The same where nothing is recorded and nobody keeps what is freed, in place of UNDEAD_WAY_OFF.
};
// Above them: how often it was chosen, so that nobody writes what was true before the choice of another thread.
#define UNDEAD_WAY_ONE 256u
#define UNDEAD_WAY_COUNT ~(UNDEAD_WAY_ONE - 1)
#define UNDEAD_WAY_SHORT (UNDEAD_WAY_BLOCKS | UNDEAD_WAY_STACKS | UNDEAD_WAY_SAMPLED)

// None of the above is set: each flag is asked.
extern volatile uint32_t undead_way;

// For tests, and NULL elsewhere: looks at each backtrace right after its capture, whose innermost frame is `pc`.
typedef void (*undead_capture_watcher_function)(uint32_t id, uintptr_t pc);
extern undead_capture_watcher_function undead_capture_watcher;

// To be called after each change of what the way depends on: mode, other allocator, free filter, addresses to be avoided,
// open scopes, asynchronous callers. Any thread, any number at a time; async-signal-safe.
void undead_way_choose(void);

#pragma GCC visibility pop
