#include "record/other_memory.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "record/registry.h"
#include <errno.h>
#include <link.h>

#define PAGE_SHIFT 12
#define PAGE_BYTES (1ull << PAGE_SHIFT)
#define LEAF_PAGES (1ull << (UNDEAD_LEAF_SHIFT - PAGE_SHIFT))
#define LEAF_WORDS (LEAF_PAGES / 64)
#define MOST_NOTED (1u << 16)   // a power of two
#define TOMBSTONE 1u
#define MOST_SEGMENTS 8u

static uint64_t **leaves;      // for each leaf of the address space a bit for each page
static uintptr_t *noted;       // open hash: 0 never used, TOMBSTONE used before
static uint32_t noted_count;
static bool traced, gaps;
static struct { uintptr_t low, high; } segments[MOST_SEGMENTS];
static size_t segment_count;

// Of several threads that make the same thing, one wins.
static void *made_once(void **place, size_t bytes) {
  void *known = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (known) return known;
  int saved = errno;
  void *fresh = undead_map(bytes);
  errno = saved;
  if (!fresh) {
    gaps = true;
    return NULL;
  }
  if (__atomic_compare_exchange_n(place, &known, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
  undead_unmap(fresh, bytes);
  return known;
}

static uint64_t *leaf_at(uintptr_t index, bool make) {
  if (index >= UNDEAD_LEAF_COUNT) return NULL;
  uint64_t **table = make ? made_once((void **)&leaves, UNDEAD_LEAF_COUNT * sizeof *leaves)
                          : __atomic_load_n(&leaves, __ATOMIC_ACQUIRE);
  if (!table) return NULL;
  if (make) return made_once((void **)&table[index], LEAF_WORDS * sizeof(uint64_t));
  return __atomic_load_n(&table[index], __ATOMIC_ACQUIRE);
}

static void set_pages(uintptr_t low, size_t bytes, bool set) {
  uintptr_t first = low >> PAGE_SHIFT, end = (low + bytes + PAGE_BYTES - 1) >> PAGE_SHIFT;
  for (uintptr_t page = first; page < end;) {
    uint64_t *leaf = leaf_at(page / LEAF_PAGES, set);
    uintptr_t next = page / 64 * 64 + 64 < end ? page / 64 * 64 + 64 : end;
    uint64_t mask = (next - page == 64 ? ~0ull : (1ull << (next - page)) - 1) << page % 64;
    if (leaf && set) __atomic_fetch_or(&leaf[page % LEAF_PAGES / 64], mask, __ATOMIC_RELEASE);
    else if (leaf) __atomic_fetch_and(&leaf[page % LEAF_PAGES / 64], ~mask, __ATOMIC_RELEASE);
    page = next;
  }
}

void undead_other_memory_add(uintptr_t low, size_t bytes) { set_pages(low, bytes, true); }

void undead_other_memory_remove(uintptr_t low, size_t bytes) {
  // A page that is not given back as a whole stays the allocator's.
  uintptr_t first = (low + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1), end = low + bytes;
  if (end > first) set_pages(first, end - first, false);
}

bool undead_other_memory_holds(uintptr_t address) {
  const uint64_t *leaf = leaf_at(address >> UNDEAD_LEAF_SHIFT, false);
  uintptr_t page = address >> PAGE_SHIFT;
  return leaf && __atomic_load_n(&leaf[page % LEAF_PAGES / 64], __ATOMIC_ACQUIRE) >> page % 64 & 1;
}

static uint32_t slot_of(uintptr_t block) {
  return (uint32_t)(undead_spread(block) >> 40) & (MOST_NOTED - 1);
}

void undead_other_memory_note(uintptr_t block) {
  uintptr_t *table = made_once((void **)&noted, MOST_NOTED * sizeof *noted);
  if (!table) return;
  if (__atomic_add_fetch(&noted_count, 1, __ATOMIC_RELAXED) > MOST_NOTED / 2) {
    gaps = true;
    return;
  }
  for (uint32_t slot = slot_of(block);; slot = (slot + 1) & (MOST_NOTED - 1)) {
    uintptr_t found = __atomic_load_n(&table[slot], __ATOMIC_RELAXED);
    if (found > TOMBSTONE) continue;
    if (__atomic_compare_exchange_n(&table[slot], &found, block, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  }
}

bool undead_other_memory_forget(uintptr_t block) {
  uintptr_t *table = __atomic_load_n(&noted, __ATOMIC_ACQUIRE);
  if (!table || !__atomic_load_n(&noted_count, __ATOMIC_RELAXED)) return false;
  uint32_t slot = slot_of(block);
  // Tombstones are kept, so at worst the whole table is looked at.
  for (uint32_t tries = 0; tries < MOST_NOTED; tries++, slot = (slot + 1) & (MOST_NOTED - 1)) {
    uintptr_t found = __atomic_load_n(&table[slot], __ATOMIC_ACQUIRE);
    if (found == 0) return false;
    if (found != block) continue;
    __atomic_store_n(&table[slot], TOMBSTONE, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&noted_count, 1, __ATOMIC_RELAXED);
    return true;
  }
  return false;
}

void undead_other_memory_each(undead_other_visitor visit, void *context) {
  const uintptr_t *table = __atomic_load_n(&noted, __ATOMIC_ACQUIRE);
  for (uint32_t slot = 0; table && slot < MOST_NOTED; slot++)
    if (table[slot] > TOMBSTONE) visit(context, table[slot]);
}

void undead_other_memory_has_gaps(void) {
  if (!gaps) gaps = true;
}

void undead_other_memory_is_traced(void) { traced = true; }

bool undead_other_memory_is_known(void) { return traced && !gaps && !undead_registry_dropped(); }

static int add_segments(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  uintptr_t first = 0;
  for (int i = 0; i < info->dlpi_phnum && !first; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD) first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
  if (first != (uintptr_t)base) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_W) || segment_count == MOST_SEGMENTS) continue;
    uintptr_t low = info->dlpi_addr + header->p_vaddr;
    segments[segment_count].low = low;
    segments[segment_count++].high = low + header->p_memsz;
  }
  return 1;
}

void undead_other_memory_set_image(const void *base) { dl_iterate_phdr(add_segments, (void *)base); }

bool undead_other_memory_image(size_t index, uintptr_t *low, uintptr_t *high) {
  if (index >= segment_count) return false;
  *low = segments[index].low;
  *high = segments[index].high;
  return true;
}
