#include "scan/roots/pages.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "platform/system/read_text.h"
#include "platform/system/seccomp.h"
#include "world/given.h"
#include "platform/system/text.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PIECE_PAGES 65536ull

// Entries of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
#define ENTRY_PRESENT (1ull << 63)
#define ENTRY_SWAPPED (1ull << 62)
#define ENTRY_FILE (1ull << 61)
#define ENTRY_GUARD (1ull << 58)

// PAGEMAP_SCAN of Linux 6.7 (include/uapi/linux/fs.h), which headers may not have yet.
typedef struct {
  uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages;
  uint64_t inverted, mask, any_of, returned;
} scan_request;
typedef struct {
  uint64_t start, end, categories;
} scan_region;
#define SCAN_PAGEMAP 0xC0606610u
#define CATEGORY_FILE (1u << 2)
#define CATEGORY_PRESENT (1u << 3)
#define CATEGORY_SWAPPED (1u << 4)
#define CATEGORY_ZERO (1u << 5)    // the page that is all zeros, where memory was only read
#define CATEGORY_GUARD (1u << 8)   // since 6.16
#define MOST_REGIONS (PIECE_PAGES * 8 / sizeof(scan_region))

// What the pages of a mapping are known by.
typedef enum {
  USE_NONE,
  USE_WRITTEN,     // those that a private mapping of a file no longer shares with it: others are as they were loaded
  USE_TOUCHED,     // those that are in the page table or swapped out
  USE_CONTENTS,    // also those that others have put into the file
} page_use;

// A file that was changed as little before the program started as clocks may differ counts as changed by it.
#define CLOCK_SLACK_SECONDS 3600

static int64_t start_of_program(int32_t process) {
  if (undead_given()) return (int64_t)(undead_given()->started / 1000000000u) - CLOCK_SLACK_SECONDS;
  // The directory is made when it is first looked at, so only the start time in ticks since boot tells.
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  uint64_t ticks = undead_start_ticks(path);
  if (!ticks) return 0;
  struct timespec now = {0}, since_boot = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  return now.tv_sec - since_boot.tv_sec + (int64_t)(ticks / 100) - CLOCK_SLACK_SECONDS;
}

bool undead_pages_open(undead_pages *pages, int32_t process) {
  *pages = (undead_pages){.pagemap = -1};
  pages->entries = undead_map(PIECE_PAGES * sizeof *pages->entries);
  pages->resident = undead_map(PIECE_PAGES);
  if (!pages->entries || !pages->resident) {
    undead_pages_close(pages);
    return false;
  }
  pages->pagemap = undead_raw4(SYS_openat, AT_FDCWD, (long)"/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
  struct sysinfo system;
  pages->no_swap = sysinfo(&system) == 0 && system.totalswap == system.freeswap;
  pages->started = start_of_program(process);
  return true;
}

void undead_pages_close(undead_pages *pages) {
  if (pages->pagemap >= 0) undead_raw3(SYS_close, pages->pagemap, 0, 0);
  if (pages->entries) undead_unmap(pages->entries, PIECE_PAGES * sizeof *pages->entries);
  if (pages->resident) undead_unmap(pages->resident, PIECE_PAGES);
  *pages = (undead_pages){.pagemap = -1};
}

// Reading the memory of a device may do something to it. The kernel lets nobody copy it, nor what may not be read.
static bool is_device(const undead_mapping *mapping) {
  if (mapping->what == UNDEAD_MAPPED_MEMORY) return false;
  if (!undead_starts_with(mapping->path, "/dev/") && !undead_starts_with(mapping->path, "anon_inode:")) return false;
  // A filter that the program was started under may end it for that question. /dev has files of memory, too.
  if (undead_seccomp_filters()) {
    struct stat file;
    bool exists = undead_file_status(mapping->path, &file);
    return exists && (S_ISCHR(file.st_mode) || S_ISBLK(file.st_mode)) && strcmp(mapping->path, "/dev/zero");
  }
  uint8_t byte;
  struct iovec here = {&byte, 1}, there = {(void *)mapping->low, 1};
  long process = undead_raw3(SYS_getpid, 0, 0, 0);
  return undead_raw6(SYS_process_vm_readv, process, (long)&here, 1, (long)&there, 1, 0) != 1;
}

// File systems in memory do not note when a mapping changes a file.
static bool may_have_changed(const undead_pages *pages, const undead_mapping *mapping) {
  struct stat file;
  struct statfs system;
  if (mapping->what == UNDEAD_MAPPED_MEMORY) return true;
  if (!undead_file_status(mapping->path, &file) || file.st_ino != mapping->inode || statfs(mapping->path, &system)) return true;
  long type = system.f_type;
  if (type == TMPFS_MAGIC || type == RAMFS_MAGIC || type == HUGETLBFS_MAGIC) return true;
  int64_t changed = file.st_mtime > file.st_ctime ? file.st_mtime : file.st_ctime;
  return changed >= pages->started;
}

static page_use use_of(const undead_pages *pages, const undead_mapping *mapping) {
  page_use other = mapping->shared && mapping->writable ? USE_TOUCHED : USE_WRITTEN;
  if (mapping->what == UNDEAD_MAPPED_KERNEL) return USE_NONE;
  if (mapping->what == UNDEAD_MAPPED_NOTHING) return USE_TOUCHED;
  if (!mapping->shared && undead_module_of(mapping->low)) return other;
  if (is_device(mapping)) return USE_NONE;
  // A copy of a process has no page table of what is shared.
  if (mapping->shared && undead_given()) return USE_CONTENTS;
  return may_have_changed(pages, mapping) ? USE_CONTENTS : other;
}

bool undead_pages_may_change(const undead_pages *pages, const undead_mapping *mapping) {
  return use_of(pages, mapping) == USE_CONTENTS;
}

typedef struct {
  undead_pages *pages;
  const undead_mapping *mapping;
  undead_run_visitor visit;
  void *context;
  page_use use;
  undead_interval run;   // that grows
} page_walk;

static void end_run(page_walk *walk) {
  if (walk->run.low < walk->run.high) walk->visit(walk->context, walk->mapping, walk->run);
  walk->run = (undead_interval){0, 0};
}

static void add_run(page_walk *walk, uintptr_t low, uintptr_t high) {
  if (walk->run.high != low) {
    end_run(walk);
    walk->run.low = low;
  }
  walk->run.high = high;
}

static bool is_page_used(const page_walk *walk, uint64_t entry) {
  if (!(entry & (ENTRY_PRESENT | ENTRY_SWAPPED)) || entry & ENTRY_GUARD) return false;
  return walk->use != USE_WRITTEN || !(entry & ENTRY_FILE);
}

// Where the page table is not to be had, or memory that is shared may be swapped out, all of a mapping counts as used.
static void walk_piece(page_walk *walk, uintptr_t low, uint64_t count) {
  const undead_pages *pages = walk->pages;
  long place = (long)(low / UNDEAD_PAGE * 8);
  long bytes = undead_raw4(SYS_pread64, pages->pagemap, (long)pages->entries, (long)(count * 8), place);
  uint64_t known = bytes > 0 ? (uint64_t)bytes / 8 : 0;
  bool contents = walk->use == USE_CONTENTS;
  if (contents && undead_raw3(SYS_mincore, (long)low, (long)(count * UNDEAD_PAGE), (long)pages->resident) < 0)
    memset(pages->resident, 0, count);
  for (uint64_t i = 0; i < count; i++) {
    bool used = i < known ? is_page_used(walk, pages->entries[i]) : walk->mapping->writable;
    used |= contents && (pages->resident[i] & 1);
    if (used) add_run(walk, low + i * UNDEAD_PAGE, low + (i + 1) * UNDEAD_PAGE);
  }
}

static bool is_used_region(const page_walk *walk, uint64_t categories) {
  if (categories & (CATEGORY_GUARD | CATEGORY_ZERO)) return false;
  return walk->use != USE_WRITTEN || !(categories & CATEGORY_FILE);
}

// The kernel lists the pages: it passes what was only reserved at once. False where it cannot.
static bool walk_regions(page_walk *walk, uintptr_t low, uintptr_t high) {
  scan_region *regions = (scan_region *)walk->pages->entries;
  static uint64_t guard = CATEGORY_GUARD;
  for (uint64_t at = low; at < high;) {
    scan_request request = {sizeof request, 0, at, high, 0, (uintptr_t)regions, MOST_REGIONS, 0, 0, 0,
                            CATEGORY_PRESENT | CATEGORY_SWAPPED,
                            CATEGORY_FILE | CATEGORY_PRESENT | CATEGORY_SWAPPED | CATEGORY_ZERO | guard};
    long count = undead_raw3(SYS_ioctl, walk->pages->pagemap, SCAN_PAGEMAP, (long)&request);
    if (count == -EINVAL && guard) {
      guard = 0;
      continue;
    }
    if (count < 0 || request.walk_end <= at) return false;
    for (long i = 0; i < count; i++)
      if (is_used_region(walk, regions[i].categories)) add_run(walk, regions[i].start, regions[i].end);
    at = request.walk_end;
  }
  return true;
}

// This call finds large parts that were only reserved faster, which knows nothing of what is swapped out.
static bool is_untouched(const page_walk *walk, uintptr_t low) {
  uint8_t *resident = walk->pages->resident;
  if (!walk->pages->no_swap || undead_raw3(SYS_mincore, (long)low, PIECE_PAGES * UNDEAD_PAGE, (long)resident) < 0) return false;
  for (uint64_t i = 0; i < PIECE_PAGES; i += 8)
    if (*(const uint64_t *)(resident + i)) return false;
  return true;
}

static void walk_pieces(page_walk *walk, uintptr_t low, uintptr_t high) {
  for (uintptr_t piece = low; piece < high; piece += PIECE_PAGES * UNDEAD_PAGE) {
    uint64_t count = (high - piece) / UNDEAD_PAGE;
    if (count >= PIECE_PAGES && walk->use != USE_CONTENTS && is_untouched(walk, piece)) continue;
    walk_piece(walk, piece, count < PIECE_PAGES ? count : PIECE_PAGES);
  }
}

// The file behind a mapping, which only some may open; negative otherwise.
static long open_mapped(const undead_mapping *mapping) {
  char path[80];
  snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", mapping->low, mapping->high);
  return undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

// Walks the parts of a shared file that are no holes; false if they are unknown.
static bool walk_data(page_walk *walk, uintptr_t low, uintptr_t high) {
  long file = open_mapped(walk->mapping);
  if (file < 0) return false;
  uint64_t shift = walk->mapping->offset - walk->mapping->low;   // from an address to its place in the file
  bool known = true;
  for (uintptr_t at = low; at < high;) {
    long data = undead_raw3(SYS_lseek, file, (long)(at + shift), SEEK_DATA);
    if (data < 0) {
      known = data == -ENXIO;   // none from there on
      break;
    }
    uintptr_t first = undead_page_of((uintptr_t)data - shift);
    if (first >= high) break;
    uintptr_t hole = (uintptr_t)undead_raw3(SYS_lseek, file, data, SEEK_HOLE) - shift;
    at = undead_page_from(hole);
    add_run(walk, first > low ? first : low, at < high ? at : high);
  }
  undead_raw3(SYS_close, file, 0, 0);
  return known;
}

// What is swapped out of shared memory is in no table: then all of it may have contents.
#define MOST_UNKNOWN_BYTES (1ull << 30)

void undead_pages_each(undead_pages *pages, const undead_mapping *mapping, uintptr_t low, uintptr_t high,
                       undead_run_visitor visit, void *context) {
  page_walk walk = {pages, mapping, visit, context, use_of(pages, mapping), {0, 0}};
  low = undead_page_of(low);
  high = undead_page_from(high);
  if (walk.use == USE_NONE) return;
  bool memory = walk.use == USE_CONTENTS && mapping->shared && mapping->what == UNDEAD_MAPPED_MEMORY;
  if (memory && walk_data(&walk, low, high)) return end_run(&walk);
  if (memory && !pages->no_swap && high - low <= MOST_UNKNOWN_BYTES) add_run(&walk, low, high);
  else if (walk.use == USE_CONTENTS || !walk_regions(&walk, low, high)) walk_pieces(&walk, low, high);
  end_run(&walk);
}
