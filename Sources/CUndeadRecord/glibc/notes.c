// What the files that read glibc's tables note: areas of the heap, and what the registry says of a chunk.
#include "glibc/heap_internal.h"
#include "platform/memory/memory.h"
#include <stdio.h>

undead_glibc_result undead_glibc_fail(undead_glibc_heap *heap, undead_glibc_result result, const char *what, uintptr_t at) {
  snprintf(heap->message, sizeof heap->message, "%s (at %#lx)", what, at);
  return result;
}

// Makes room for one entry more.
static bool make_room(void **entries, uint32_t count, uint32_t *capacity, size_t size) {
  if (count < *capacity) return true;
  uint32_t larger = *capacity ? *capacity * 2 : 1024;
  void *moved = undead_map_larger(*entries, *capacity * size, larger * size);
  if (!moved) return false;
  *entries = moved;
  *capacity = larger;
  return true;
}

bool undead_glibc_add_area(undead_glibc_heap *heap, uintptr_t low, uintptr_t high) {
  if (!make_room((void **)&heap->areas, heap->area_count, &heap->area_capacity, sizeof *heap->areas)) return false;
  heap->areas[heap->area_count++] = (undead_glibc_area){.low = low, .high = high};
  return true;
}

bool undead_glibc_add_kept(undead_glibc_heap *heap, uintptr_t block) {
  if (!make_room((void **)&heap->kept, heap->kept_count, &heap->kept_capacity, sizeof *heap->kept)) return false;
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
