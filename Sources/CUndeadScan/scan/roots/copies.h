// Copies of memory that the scan cannot read where it lies: the program may not read it itself at the moment, or a
// forked copy of the program does not have it, or shares it with the program that runs on.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct undead_copy_part undead_copy_part;

typedef struct {
  long memory;               // descriptor of /proc/self/mem, negative if there is none
  undead_copy_part *parts;   // all memory of the copies
  size_t bytes;              // copied so far
  bool opened, no_memory;
} undead_copies;

// Room beside the copies, 0 without memory.
uintptr_t undead_copies_room(undead_copies *copies, size_t bytes);

// Closes the descriptor: in the helper, whose table of descriptors is not the program's.
void undead_copies_end(undead_copies *copies);
void undead_copies_close(undead_copies *copies);

// Copies what can be read of memory between two multiples of the page size; the address of the copy, 0 if nothing could be
// read or there is no memory. `*size`: how much of it, from the start.
uintptr_t undead_copies_take(undead_copies *copies, uintptr_t low, uintptr_t high, size_t *size);
