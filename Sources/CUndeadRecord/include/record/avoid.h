// Addresses that new blocks must not have while allocation scopes are open: those of freed memory that something seems to
// refer to. Slots of frames that were never written, padding and variables that are not in use hold addresses of what was
// freed long ago; malloc would hand them out again, and they would be references to the new blocks, and hide leaks.
// (Boehm, "Space Efficient Conservative Garbage Collection", PLDI 1993, calls it blacklisting.)
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern bool undead_avoids_addresses;   // there are such addresses

// Adds what stands on the calling thread's stack, and below `stack_pointer` where later frames will be.
void undead_avoid_stack(uintptr_t stack_pointer);

// Adds what stands in memory that the calling thread may read.
void undead_avoid_words(uintptr_t low, uintptr_t high);

// A look at the process begins: what the last one found is forgotten. With the world stopped, as the next one.
void undead_avoid_look(void);

// Adds an address that the look found: to what scopes avoid that are open, and all that are opened until the next look, since
// what is not in use stays as it is.
void undead_avoid_address(uintptr_t address);

// Adds what the last look found. When scopes are opened while none is.
void undead_avoid_found(void);

// A bit for 16 bytes, those that lie side by side for 4 MiB: not set where no address is. NULL until there was one.
#define UNDEAD_AVOID_BITS (1u << 18)
extern const uint8_t *undead_avoid_filter;

// False if none of the addresses lies in a block; else undead_avoid_block knows.
static inline __attribute__((always_inline)) bool undead_avoid_may_cover(const void *block, size_t size) {
  const uint8_t *filter = undead_avoid_filter;
  uint32_t bit = (uint32_t)((uintptr_t)block >> 4) & (UNDEAD_AVOID_BITS - 1);
  size_t granules = (size + 15) >> 4;
  if (!filter) return false;
  if (granules > 32 || bit + granules > UNDEAD_AVOID_BITS) return true;
  uint64_t bits;
  __builtin_memcpy(&bits, filter + bit / 8, sizeof bits);
  return bits >> bit % 8 & ((1ull << granules) - 1);
}

// True if one of the addresses lies in the block; it is then put aside, out of malloc's hands.
bool undead_avoid_block(void *block, size_t size);

// Forgets the addresses, and gives the blocks that were put aside to the caller: returns the first one, or NULL; the
// first word of each is the next.
void *undead_avoid_end(void);

// The first of the blocks that are put aside, likewise linked, or NULL. With the world stopped.
void *undead_avoid_put_aside(void);

// Like undead_avoid_end, and gives the blocks back to malloc. In hooks.c, which knows it.
void undead_avoid_no_longer(void);

#pragma GCC visibility pop
