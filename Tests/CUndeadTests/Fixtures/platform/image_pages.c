// Pages of code that are as in the file are let go and come back; a segment with one that was changed stays as it is.
#define _GNU_SOURCE
#include "../record/check.h"
#include "platform/images/image_pages.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
  uintptr_t low, high;
} mapping;

static mapping mapping_of(const void *place) {
  mapping found = {0, 0}, at;
  char line[1024];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx", &at.low, &at.high) == 2 && at.low <= (uintptr_t)place && (uintptr_t)place < at.high) found = at;
  fclose(maps);
  return found;
}

// How many of its pages are in the page table. The kernel puts those around one that is asked for there, too.
static long present(mapping of) {
  static uint64_t entries[65536];
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  long bytes = pread(pagemap, entries, (of.high - of.low) / 4096 * 8, (off_t)(of.low / 4096 * 8)), count = 0;
  close(pagemap);
  for (long i = 0; i < bytes / 8; i++) count += (long)(entries[i] >> 63);
  return count;
}

static long read_all(mapping of) {
  volatile uint8_t sum = 0;
  for (uintptr_t page = of.low; page < of.high; page += 4096) sum += *(volatile uint8_t *)page;
  return (long)((of.high - of.low) / 4096);
}

static __attribute__((noinline, aligned(4096))) int answer(void) { return 42; }

int main(void) {
  int (*volatile run)(void) = answer;
  mapping library = mapping_of(dlsym(RTLD_DEFAULT, "qsort_r")), own = mapping_of((void *)answer);
  long pages = read_all(library);
  CHECK(pages > 100 && present(library) == pages && run() == 42);
  undead_image_pages_let_go();
  CHECK(present(library) < pages * 3 / 4 && run() == 42);

  // As a debugger or a patch of the program's own would do it: mov $7, %eax; ret.
  static const uint8_t other[] = {0xb8, 7, 0, 0, 0, 0xc3};
  uintptr_t page = (uintptr_t)answer & ~(uintptr_t)4095;
  CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0);
  memcpy((void *)answer, other, sizeof other);
  CHECK(mprotect((void *)page, 4096, PROT_READ | PROT_EXEC) == 0);
  long own_pages = read_all(own);
  read_all(library);
  undead_image_pages_let_go();
  CHECK(present(own) == own_pages && run() == 7);
  CHECK(present(library) < pages * 3 / 4);
  return failures != 0;
}
