// Memory on guard pages for objects: malloc() asks before it allocates.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Learns how the runtime calls malloc for an object. False if it does so in a way that is not known: then no object gets pages of
// its own. Called once, when the sniffer starts.
bool undead_object_source_learn(void);
typedef enum { UNDEAD_BLOCK_OF_OTHERS, UNDEAD_BLOCK_RAW, UNDEAD_BLOCK_OBJECT } undead_block_purpose;
// What malloc's caller wants the block for: an object, whose metadata is `*isa`; memory that the runtime hands out as it is; none
// of Swift's.
undead_block_purpose undead_object_source_purpose(uintptr_t pc, uintptr_t bp, uintptr_t *isa);

// The block source (record/block_source.h): NULL if the block is for no object, or for one that gets no pages of its own.
void *undead_object_source(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp);

#pragma GCC visibility pop
