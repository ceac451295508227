#include "platform/maps/holes.h"
#include "platform/maps/maps_internal.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include <fcntl.h>

#define MOST_PAGES (1ull << 20)          // unreadable ones on each side of a fault
#define MOST_MARKED_PAGES (1ull << 22)   // looked at in the page table
#define PIECE_PAGES 512u
// Entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst). Guards look like pages that are swapped out.
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_SWAPPED (1ull << 62)

static long open_own(const char *path) {
  return undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

// By a call that fails where reading would fault.
static bool is_unreadable(long memory, uintptr_t page) {
  char byte;
  return undead_raw4(SYS_pread64, memory, (long)&byte, 1, (long)page) != 1;
}

// Adds the pages from `low` on that the page table has as neither there nor empty.
static void add_marked(long memory, long pagemap, uintptr_t low, uintptr_t high) {
  uint64_t entries[PIECE_PAGES];
  uintptr_t start = 0;
  for (uintptr_t at = low, known = low; at < high; at += UNDEAD_PAGE) {
    if (at == known) {
      uint64_t count = (high - at) / UNDEAD_PAGE < PIECE_PAGES ? (high - at) / UNDEAD_PAGE : PIECE_PAGES;
      long bytes = undead_raw4(SYS_pread64, pagemap, (long)entries, (long)(count * 8), (long)(at / UNDEAD_PAGE * 8));
      if (bytes != (long)(count * 8)) return;
      known = at + count * UNDEAD_PAGE;
      low = at;
    }
    uint64_t entry = entries[(at - low) / UNDEAD_PAGE];
    bool hole = (entry & ENTRY_SWAPPED) && !(entry & ENTRY_PRESENT) && is_unreadable(memory, at);
    if (hole && !start) start = at;
    if (start && (!hole || at + UNDEAD_PAGE >= high)) {
      undead_hole_add(start, hole ? at + UNDEAD_PAGE : at);
      start = 0;
    }
  }
}

// Guards seldom come alone: looks at all of the memory, what lies around the fault first.
static void add_others(long memory, uintptr_t address) {
  uint64_t budget = MOST_MARKED_PAGES;
  long pagemap = open_own("/proc/self/pagemap");
  if (pagemap < 0) return;
  for (size_t i = 0; i <= undead_mapping_count() && budget; i++) {
    const undead_mapping *mapping = i ? undead_mapping_at(i - 1) : undead_mapping_of(address);
    if (!mapping || !mapping->readable) continue;
    uint64_t pages = (mapping->high - mapping->low) / UNDEAD_PAGE;
    if (pages > budget) pages = budget;
    add_marked(memory, pagemap, mapping->low, mapping->low + pages * UNDEAD_PAGE);
    budget -= pages;
  }
  undead_raw3(SYS_close, pagemap, 0, 0);
}

bool undead_hole_note(uintptr_t address) {
  const undead_mapping *found = undead_maps_refresh() ? undead_mapping_of(address) : NULL;
  if (!found || !found->readable) return false;
  undead_mapping mapping = *found;
  long memory = open_own("/proc/self/mem");
  if (memory < 0) return false;
  uintptr_t low = undead_page_of(address), high = low + UNDEAD_PAGE, first = low;
  while (low > mapping.low && first - low < MOST_PAGES * UNDEAD_PAGE && is_unreadable(memory, low - UNDEAD_PAGE)) low -= UNDEAD_PAGE;
  while (high < mapping.high && high - first < MOST_PAGES * UNDEAD_PAGE && is_unreadable(memory, high)) high += UNDEAD_PAGE;
  bool noted = undead_hole_add(low, high);
  if (noted) add_others(memory, address);
  undead_raw3(SYS_close, memory, 0, 0);
  return noted;
}

void undead_holes_refresh(void) {
  if (!undead_hole_count) return;
  long memory = open_own("/proc/self/mem");
  uint32_t kept = 0;
  for (uint32_t i = 0; memory >= 0 && i < undead_hole_count; i++)
    if (is_unreadable(memory, undead_holes[i].low)) undead_holes[kept++] = undead_holes[i];
  if (memory >= 0) undead_hole_count = kept;
  if (memory >= 0) undead_raw3(SYS_close, memory, 0, 0);
}
