#include "platform/memory/boundaries.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include <sys/resource.h>

// As large, and as aligned, as a heap that glibc makes for a thread (malloc/arena.c, HEAP_MAX_SIZE).
#define HEAP_BYTES (64ul << 20)
#define BOUNDARY (1ul << 32)
#define BOUNDARY_COUNT 2   // the kernel maps from high addresses to low ones: enough for the next 4 GiB at least

static void *reserved[BOUNDARY_COUNT];

void undead_reserve_boundaries(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return;
  uintptr_t address = (uintptr_t)&undead_reserve_boundaries & ~(BOUNDARY - 1);
  for (int i = 0; i < BOUNDARY_COUNT && address > BOUNDARY; i++, address -= BOUNDARY)
    if (undead_reserve_at((void *)address, HEAP_BYTES)) __atomic_store_n(&reserved[i], (void *)address, __ATOMIC_RELEASE);
}

void undead_release_boundaries(void) {
  for (int i = 0; i < BOUNDARY_COUNT; i++)
    undead_unmap(__atomic_exchange_n(&reserved[i], NULL, __ATOMIC_ACQ_REL), HEAP_BYTES);
}
