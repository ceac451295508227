#include "platform/images/image_pages.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#define ENTRIES 512u

// Entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_SWAPPED (1ull << 62)
#define ENTRY_FILE (1ull << 61)

// Where a debugger has a breakpoint, or code was changed, the page is no longer the file's.
static bool is_like_file(long pagemap, uintptr_t low, uintptr_t high) {
  uint64_t entries[ENTRIES];
  for (uintptr_t at = low; at < high; at += ENTRIES * UNDEAD_PAGE) {
    uint64_t count = (high - at) / UNDEAD_PAGE < ENTRIES ? (high - at) / UNDEAD_PAGE : ENTRIES;
    long bytes = undead_raw4(SYS_pread64, pagemap, (long)entries, (long)(count * 8), (long)(at / UNDEAD_PAGE * 8));
    if (bytes != (long)(count * 8)) return false;
    for (uint64_t i = 0; i < count; i++) {
      if (entries[i] & ENTRY_SWAPPED) return false;
      if (entries[i] & ENTRY_PRESENT && !(entries[i] & ENTRY_FILE)) return false;
    }
  }
  return true;
}

static int let_go(struct dl_phdr_info *info, size_t size, void *pagemap) {
  (void)size;
  // The program's own name is empty; the kernel's image has no file.
  if (info->dlpi_name[0] && info->dlpi_name[0] != '/') return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
    uintptr_t low = undead_page_of(info->dlpi_addr + segment->p_vaddr);
    uintptr_t high = undead_page_from(info->dlpi_addr + segment->p_vaddr + segment->p_filesz);
    if (low < high && is_like_file(*(const long *)pagemap, low, high))
      undead_raw3(SYS_madvise, (long)low, (long)(high - low), MADV_DONTNEED);
  }
  return 0;
}

void undead_image_pages_let_go(void) {
  long pagemap = undead_raw4(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
  if (pagemap < 0) return;
  dl_iterate_phdr(let_go, &pagemap);
  undead_raw3(SYS_close, pagemap, 0, 0);
}
