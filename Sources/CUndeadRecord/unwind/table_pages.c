#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "unwind/table_pages.h"
#include "platform/own_data.h"
#include "platform/processor.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul
#define MOST_IMAGES 64u   // of others the pages stay

typedef struct {
  uintptr_t image;       // where it begins, 0: free
  uintptr_t low, high;   // what was read; low > high: nothing
} read_range;

static read_range ranges[MOST_IMAGES];
static bool any;

static read_range *range_of(uintptr_t image) {
  for (uint32_t i = 0; i < MOST_IMAGES; i++) {
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

// True if the range lies in a segment that is mapped from the file and that nobody writes to, not even the loader.
static bool is_like_file(const read_range *range) {
  const Elf64_Ehdr *file = (const Elf64_Ehdr *)range->image;
  size_t end = file->e_phoff + (size_t)file->e_phnum * sizeof(Elf64_Phdr);
  if (memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_phentsize != sizeof(Elf64_Phdr) || end > PAGE) return false;
  const Elf64_Phdr *headers = (const Elf64_Phdr *)(range->image + file->e_phoff);
  uintptr_t bias = range->image;
  bool first = true, inside = false;
  for (uint32_t i = 0; i < file->e_phnum; i++) {
    const Elf64_Phdr *header = &headers[i];
    if (header->p_type == PT_LOAD) {
      if (first) bias -= header->p_vaddr & ~(PAGE - 1);
      first = false;
      uintptr_t low = bias + header->p_vaddr;
      if (!(header->p_flags & PF_W) && low <= range->low && range->high < low + header->p_filesz) inside = true;
    }
  }
  for (uint32_t i = 0; inside && i < file->e_phnum; i++)
    if (headers[i].p_type == PT_DYNAMIC && has_text_relocations(bias, &headers[i])) return false;
  return inside;
}

void undead_table_pages_let_go(void) {
  if (!any) return;
  any = false;
  for (uint32_t i = 0; i < MOST_IMAGES && ranges[i].image; i++) {
    read_range range = ranges[i];
    ranges[i].low = ranges[i].high = 0;
    // Only whole pages of the tables: what is beside them in the first and the last one stays.
    uintptr_t low = (range.low + PAGE - 1) & ~(PAGE - 1), high = range.high & ~(PAGE - 1);
    if (low < high && is_like_file(&range)) undead_raw3(SYS_madvise, (long)low, (long)(high - low), MADV_DONTNEED);
  }
}
#endif
