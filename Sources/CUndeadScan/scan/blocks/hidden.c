#include "scan/blocks/hidden.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "record/block_source.h"
#include "record/other_memory.h"
#include <sys/mman.h>
#include <sys/syscall.h>

#define LEAF_BYTES (1ull << UNDEAD_LEAF_SHIFT)

static void hide(undead_hidden *hidden, const undead_heap *heap, uintptr_t block) {
  uint32_t *slot = undead_heap_word(heap, block);
  if (!*slot) return;
  if (hidden->count == UNDEAD_MOST_HIDDEN) {
    hidden->overflow = true;
    return;
  }
  // A scan that was given up may have left marks.
  hidden->blocks[hidden->count] = (undead_hidden_block){slot, *slot & ~UNDEAD_WORD_SCAN_BITS};
  // What ends this process in between leaves the word in one of both.
  hidden->count++;
  // From here on it is memory that nobody knows, even where another allocator keeps it.
  undead_other_memory_has_gaps();
  __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
}

static void hide_in_page(undead_hidden *hidden, const undead_heap *heap, uintptr_t page) {
  uintptr_t block = undead_heap_resolve(heap, page);
  if (block) hide(hidden, heap, block);
  if (!heap->regions[page >> UNDEAD_LEAF_SHIFT].leaf) return;
  for (uintptr_t at = page; at < page + UNDEAD_PAGE; at += 16) hide(hidden, heap, at);
}

static void hide_in_mapping(undead_hidden *hidden, const undead_heap *heap, const undead_mapping *mapping) {
  uintptr_t low = mapping->low > heap->low ? mapping->low : heap->low & ~(UNDEAD_PAGE - 1);
  uintptr_t high = mapping->high < heap->high ? mapping->high : heap->high;
  for (uintptr_t page = low; page < high;) {
    const undead_region *region = &heap->regions[page >> UNDEAD_LEAF_SHIFT];
    if (!region->leaf && !region->cover) {
      page = (page | (LEAF_BYTES - 1)) + 1;
      continue;
    }
    if (undead_heap_page(heap, page)) hide_in_page(hidden, heap, page);
    page += UNDEAD_PAGE;
  }
}

static bool holds_block(const undead_heap *heap, const undead_mapping *mapping) {
  uintptr_t page = mapping->low > heap->low ? mapping->low : undead_page_of(heap->low);
  uintptr_t high = mapping->high < heap->high ? mapping->high : heap->high;
  while (page < high && !undead_heap_page(heap, page)) page += UNDEAD_PAGE;
  return page < high;
}

void undead_open_chosen(undead_hidden *hidden, const undead_heap *heap) {
  for (size_t i = 0; undead_chosen_blocks.bytes && i < undead_mapping_count(); i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    if (mapping->readable || !undead_block_is_chosen((void *)mapping->low) || !holds_block(heap, mapping)) continue;
    if (hidden->opened_count == UNDEAD_MOST_OPENED) return;
    int protection = (mapping->writable ? PROT_WRITE : 0) | (mapping->executable ? PROT_EXEC : 0);
    hidden->opened[hidden->opened_count++] = (undead_opened_pages){mapping->low, mapping->high, protection};
    if (undead_raw3(SYS_mprotect, (long)mapping->low, (long)(mapping->high - mapping->low), PROT_READ) == 0) undead_mapping_open(i);
  }
}

bool undead_hide_unreadable(undead_hidden *hidden, const undead_heap *heap) {
  for (size_t i = 0; i < undead_mapping_count(); i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    if (!mapping->readable && !undead_owns_memory(mapping->low)) hide_in_mapping(hidden, heap, mapping);
  }
  return hidden->count > 0;
}

void undead_hidden_restore(undead_hidden *hidden) {
  for (uint32_t i = 0; i < hidden->count; i++)
    __atomic_store_n(hidden->blocks[i].slot, hidden->blocks[i].word, __ATOMIC_RELEASE);
  for (uint32_t i = 0; i < hidden->opened_count; i++) {
    const undead_opened_pages *pages = &hidden->opened[i];
    undead_raw3(SYS_mprotect, (long)pages->low, (long)(pages->high - pages->low), pages->protection);
  }
  hidden->opened_count = 0;
  hidden->count = 0;
  hidden->overflow = false;
}
