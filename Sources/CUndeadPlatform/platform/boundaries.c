#define _GNU_SOURCE
#include "platform/boundaries.h"
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

// As large, and as aligned, as a heap that glibc makes for a thread (malloc/arena.c, HEAP_MAX_SIZE).
#define HEAP_BYTES (64ul << 20)
#define BOUNDARY (1ul << 32)
#define BOUNDARY_COUNT 2   // the kernel maps from high addresses to low ones: enough for the next 4 GiB at least

void undead_reserve_boundaries(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return;
  int saved_errno = errno;
  uintptr_t address = (uintptr_t)&undead_reserve_boundaries & ~(BOUNDARY - 1);
  for (int i = 0; i < BOUNDARY_COUNT && address > BOUNDARY; i++, address -= BOUNDARY)
    mmap((void *)address, HEAP_BYTES, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  errno = saved_errno;
}
