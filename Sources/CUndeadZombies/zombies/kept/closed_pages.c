#include "zombies/kept/closed_pages.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

bool undead_dead_pages_protect(uintptr_t low, uintptr_t high, int protection) {
  int saved = errno;
  bool done = mprotect((void *)low, high - low, protection) == 0;
  errno = saved;
  return done;
}

// Where mprotect is refused, as by a filter of system calls, a copy takes the place of the pages.
static bool replace_pages(uintptr_t low, size_t bytes) {
  enum { MAY_MOVE_TO_PLACE = 1 | 2 };   // MREMAP_MAYMOVE, MREMAP_FIXED
  int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  void *copy = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  bool done = copy != MAP_FAILED && pread(file, copy, bytes, (off_t)low) == (ssize_t)bytes &&
              syscall(SYS_mremap, copy, bytes, bytes, MAY_MOVE_TO_PLACE, low) == (long)low;
  if (!done && copy != MAP_FAILED) munmap(copy, bytes);
  if (file >= 0) close(file);
  return done;
}

bool undead_dead_pages_open(uintptr_t low, uintptr_t high) {
  int saved = errno;
  bool done = undead_dead_pages_protect(low, high, PROT_READ | PROT_WRITE) || replace_pages(low, high - low);
  errno = saved;
  return done;
}

// MARK: Mappings for the program

enum { PAIRS = 128 };   // of pages that differ, so that each is a mapping

static char *pages;
static bool given;

void undead_spare_mappings_prepare(void) {
  if (pages || given) return;
  char *memory = undead_map_unused(2 * PAIRS * UNDEAD_PAGE);
  for (int i = 0; memory && i < PAIRS; i++) mprotect(memory + 2 * i * UNDEAD_PAGE, UNDEAD_PAGE, PROT_READ);
  pages = memory;
}

bool undead_spare_mappings_are_given(void) { return __atomic_load_n(&given, __ATOMIC_RELAXED); }

bool undead_spare_mappings_give(void) {
  if (__atomic_exchange_n(&given, true, __ATOMIC_RELAXED)) return false;
  if (pages) undead_unmap(pages, 2 * PAIRS * UNDEAD_PAGE);
  return true;
}
