// What the files about glibc's heap share.
#pragma once
#include "glibc/heap.h"
#include "glibc/layout.h"
#include "record/registry.h"

#pragma GCC visibility push(hidden)

// In the registry, while the tables are compared: a free chunk that no list was seen to have.
#define UNDEAD_GLIBC_FREE 0x40000000u

typedef struct {
  uintptr_t bins;          // place of the first one
  uintptr_t start;         // of the struct
  uintptr_t top;
  bool main;
} undead_arena;

// Says what does not fit and returns `result`.
undead_glibc_result undead_glibc_fail(undead_glibc_heap *heap, undead_glibc_result result, const char *what, uintptr_t at);
bool undead_glibc_add_area(undead_glibc_heap *heap, uintptr_t low, uintptr_t high);
bool undead_glibc_add_kept(undead_glibc_heap *heap, uintptr_t block);

// What the registry says of a chunk's memory: it was seen as a block, or noted as free.
bool undead_glibc_is_block(uintptr_t block);
bool undead_glibc_is_free(uintptr_t block);
void undead_glibc_note_free(uintptr_t block);
void undead_glibc_forget(uintptr_t block);

// All parts of the main arena, and of another one.
undead_glibc_result undead_glibc_take_main(undead_glibc_heap *heap, const undead_arena *arena);
undead_glibc_result undead_glibc_take_heaps(undead_glibc_heap *heap, const undead_arena *arena);

// Takes what stands in the arena's lists out of the registry; `*left`: the free chunks that no list has yet.
undead_glibc_result undead_glibc_take_lists(undead_glibc_heap *heap, const undead_arena *arena, uint64_t *left);

// The chunks with mappings of their own. `*settings`: the place of sbrk_base.
undead_glibc_result undead_glibc_take_mapped(undead_glibc_heap *heap, uintptr_t *settings);
// What threads keep for themselves, and the tables that they have for it.
undead_glibc_result undead_glibc_take_caches(undead_glibc_heap *heap, uintptr_t settings);

#pragma GCC visibility pop
