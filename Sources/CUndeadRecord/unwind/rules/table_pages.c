// Pages of unwind tables that only the instrument has read: they are let go again, so that the program's resident memory stays
// what it was. One range for each image.
#include "unwind/rules/images.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "platform/maps/segments.h"
#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_RANGES 64u   // of others the pages stay

typedef struct {
  uintptr_t image;       // where it begins, 0: free
  uintptr_t low, high;   // what was read; low > high: nothing
} read_range;

static read_range ranges[MOST_RANGES];
static bool any;

static read_range *range_of(uintptr_t image) {
  for (uint32_t i = 0; i < MOST_RANGES; i++) {
    uintptr_t known = __atomic_load_n(&ranges[i].image, __ATOMIC_ACQUIRE);
    if (!known && __atomic_compare_exchange_n(&ranges[i].image, &known, image, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return &ranges[i];
    if (known == image) return &ranges[i];
  }
  return NULL;
}

// Two threads may overwrite each other's: then a page stays.
static void widen(read_range *range, uintptr_t place) {
  if (!range->high || place < range->low) range->low = place;
  if (place > range->high) range->high = place;
}

void undead_table_pages_note(const undead_image *image, const void *place, const void *other) {
  read_range *range = range_of(image->low);
  if (!range) return;
  widen(range, (uintptr_t)image->eh_frame_hdr);
  widen(range, (uintptr_t)place);
  widen(range, (uintptr_t)other);
  any = true;
}

static bool has_text_relocations(uintptr_t bias, const Elf64_Phdr *header) {
  const Elf64_Dyn *entry = (const Elf64_Dyn *)(bias + header->p_vaddr);
  for (; entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL)) return true;
  return false;
}

// What has called malloc may hold any lock: of an image only the first page is known to be there.
static bool is_in_first_page(const void *image, uintptr_t address, size_t bytes) {
  return address - (uintptr_t)image <= UNDEAD_PAGE && bytes <= UNDEAD_PAGE - (address - (uintptr_t)image);
}

// True if the range lies in a segment that is mapped from the file and that nobody writes to, not even the loader.
static bool is_like_file(const read_range *range) {
  const void *image = (const void *)range->image;
  undead_segments segments;
  if (!undead_segments_read(&segments, image, is_in_first_page, image)) return false;
  uintptr_t bias = undead_segments_bias(&segments, image);
  bool inside = false;
  for (size_t i = 0; i < segments.count; i++) {
    const Elf64_Phdr *header = &segments.headers[i];
    uintptr_t low = bias + header->p_vaddr;
    if (header->p_type == PT_DYNAMIC && has_text_relocations(bias, header)) return false;
    if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
    inside |= low <= range->low && range->high < low + header->p_filesz;
  }
  return inside;
}

void undead_table_pages_let_go(void) {
  if (!any) return;
  any = false;
  for (uint32_t i = 0; i < MOST_RANGES && ranges[i].image; i++) {
    read_range range = ranges[i];
    ranges[i].low = ranges[i].high = 0;
    // Only whole pages of the tables: what is beside them in the first and the last one stays.
    uintptr_t low = undead_page_from(range.low), high = undead_page_of(range.high);
    if (low < high && is_like_file(&range)) undead_raw3(SYS_madvise, (long)low, (long)(high - low), MADV_DONTNEED);
  }
}
