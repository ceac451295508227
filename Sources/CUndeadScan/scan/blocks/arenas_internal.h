// What arenas.c and free_chunks.c share.
#pragma once
#include "glibc/layout.h"
#include "scan/blocks/arenas.h"

// True if there can be an unrecorded chunk of malloc's at `chunk`: aligned, readable as a whole, with a possible size.
bool undead_is_chunk(const undead_heap *heap, uintptr_t chunk);
// Notes the chunk as free; false if it is noted already, or without memory.
bool undead_note_free_chunk(undead_free_chunks *free, uintptr_t chunk);
// Notes that nothing of malloc's is behind the chunk.
void undead_note_top(undead_free_chunks *free, uintptr_t chunk);

#define UNDEAD_FREE_TABLE_BYTES (UNDEAD_LEAF_COUNT * sizeof(uint64_t *))   // of `bits`
