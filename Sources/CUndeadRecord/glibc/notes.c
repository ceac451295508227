// What the files that read glibc's tables note: areas of the heap, and what the registry says of a chunk.
#include "glibc/heap_internal.h"
#include "platform/memory/memory.h"
#include <stdio.h>

undead_glibc_result undead_glibc_fail(undead_glibc_heap *heap, undead_glibc_result result, const char *what, uintptr_t at) {
  snprintf(heap->message, sizeof heap->message, "%s (at %#lx)", what, at);
  return result;
}

enum { FIRST_ENTRIES = 1024 };

bool undead_glibc_add_area(undead_glibc_heap *heap, uintptr_t low, uintptr_t high) {
  if (heap->area_count == heap->area_capacity && !undead_grow(heap->areas, heap->area_capacity, FIRST_ENTRIES)) return false;
  heap->areas[heap->area_count++] = (undead_glibc_area){.low = low, .high = high};
  return true;
}

bool undead_glibc_add_kept(undead_glibc_heap *heap, uintptr_t block) {
  if (heap->kept_count == heap->kept_capacity && !undead_grow(heap->kept, heap->kept_capacity, FIRST_ENTRIES)) return false;
  heap->kept[heap->kept_count++] = block;
  return true;
}

static uint32_t word_of(uintptr_t block) {
  const uint32_t *slot = block % 16 ? NULL : undead_registry_slot(block);
  return slot ? *slot : 0;
}

bool undead_glibc_is_block(uintptr_t block) { return word_of(block) & UNDEAD_WORD_MARK; }

bool undead_glibc_is_free(uintptr_t block) { return word_of(block) == UNDEAD_GLIBC_FREE; }

void undead_glibc_note_free(uintptr_t block) {
  undead_registry_see(block);
  uint32_t *slot = undead_registry_slot(block);
  if (slot) *slot = UNDEAD_GLIBC_FREE;
}

void undead_glibc_forget(uintptr_t block) { *undead_registry_slot(block) = 0; }
