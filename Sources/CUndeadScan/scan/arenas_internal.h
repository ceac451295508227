// What arenas.c and free_chunks.c share: glibc's chunks (malloc/malloc.c, struct malloc_chunk).
#pragma once
#include "scan/arenas.h"
#include <stdint.h>

// A chunk: size of the one before if that is free, size with flags, then the memory.
#define CHUNK_HEADER 16u
#define CHUNK_SMALLEST 32u
#define CHUNK_PREVIOUS_IN_USE 1u
#define CHUNK_MAPPED 2u
#define CHUNK_FLAGS 7u

static inline uintptr_t undead_chunk_word(uintptr_t address) { return *(const uintptr_t *)address; }
static inline uintptr_t undead_chunk_flags(uintptr_t chunk) { return undead_chunk_word(chunk + 8) & CHUNK_FLAGS; }
static inline uintptr_t undead_chunk_size(uintptr_t chunk) { return undead_chunk_word(chunk + 8) & ~(uintptr_t)CHUNK_FLAGS; }

// True if there can be an unrecorded chunk of malloc's at `chunk`: aligned, readable as a whole, with a possible size.
bool undead_is_chunk(const undead_heap *heap, uintptr_t chunk);
// Notes the chunk as free; false if it is noted already, or without memory.
bool undead_note_free_chunk(undead_free_chunks *free, uintptr_t chunk);
// Notes that nothing of malloc's is behind the chunk.
void undead_note_top(undead_free_chunks *free, uintptr_t chunk);

// Notes what the lists of all arenas, the threads' caches and the blocks put aside name.
void undead_arenas_list(undead_free_chunks *free, const undead_heap *heap, const undead_world *world,
                        undead_intervals *excluded);
