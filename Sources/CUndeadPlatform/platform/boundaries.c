#define _GNU_SOURCE
#include "platform/boundaries.h"
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

// As large, and as aligned, as a heap that glibc makes for a thread (malloc/arena.c, HEAP_MAX_SIZE).
#define HEAP_BYTES (64ul << 20)
#define BOUNDARY (1ul << 32)
#define BOUNDARY_COUNT 2   // the kernel maps from high addresses to low ones: enough for the next 4 GiB at least

static void *reserved[BOUNDARY_COUNT];

static void reserve_at(int index, void *address) {
  void *place = mmap(
      address, HEAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  // Kernels before 4.17 take the address for a wish.
  if (place != MAP_FAILED && place != address) munmap(place, HEAP_BYTES);
  if (place == address) __atomic_store_n(&reserved[index], place, __ATOMIC_RELEASE);
}

void undead_reserve_boundaries(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return;
  int saved_errno = errno;
  uintptr_t address = (uintptr_t)&undead_reserve_boundaries & ~(BOUNDARY - 1);
  for (int i = 0; i < BOUNDARY_COUNT && address > BOUNDARY; i++, address -= BOUNDARY)
    reserve_at(i, (void *)address);
  errno = saved_errno;
}

void undead_release_boundaries(void) {
  int saved_errno = errno;
  for (int i = 0; i < BOUNDARY_COUNT; i++) {
    void *place = __atomic_exchange_n(&reserved[i], NULL, __ATOMIC_ACQ_REL);
    if (place) munmap(place, HEAP_BYTES);
  }
  errno = saved_errno;
}
