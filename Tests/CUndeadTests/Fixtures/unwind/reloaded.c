// A library is unloaded and another one comes to its place: what the first one allocated is not said to be the second
// one's. Linked with the sources of the instrument; takes the paths of the two.
#define _GNU_SOURCE
#include "../record/check.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

typedef void (*run_function)(void (*)(size_t));

typedef struct {
  uintptr_t low, high;
} range;

static int find_range(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct {
    uintptr_t inside;
    range found;
  } *search = context;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, high = low + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && search->inside >= low && search->inside < high)
      search->found = (range){low, high};
  }
  return 0;
}

static range range_of(const void *address) {
  struct {
    uintptr_t inside;
    range found;
  } search = {(uintptr_t)address, {0, 0}};
  dl_iterate_phdr(find_range, &search);
  return search.found;
}

static uint32_t frames_in(const void *block, range code) {
  uintptr_t frames[64];
  uint32_t count = undead_backtrace_frames(*undead_registry_slot((uintptr_t)block), frames, 64), inside = 0;
  for (uint32_t i = 0; i < count; i++) inside += frames[i] >= code.low && frames[i] < code.high;
  return inside;
}

static void *last;

static void allocate(size_t size) { last = malloc(size); }

int main(int count, char **paths) {
  CHECK(count == 3);
  range places[2];
  void *blocks[2];
  for (int i = 0; i < 2; i++) {
    void *library = dlopen(paths[i + 1], RTLD_NOW);
    CHECK(library);
    run_function run = (run_function)dlsym(library, "run");
    places[i] = range_of((const void *)run);
    run(allocate);
    blocks[i] = last;
    CHECK(frames_in(blocks[i], places[i]) > 0);
    if (i == 0) dlclose(library);
  }
  CHECK(places[0].low == places[1].low);   // else this shows nothing
  CHECK(frames_in(blocks[0], places[1]) == 0);
  return failures != 0;
}
