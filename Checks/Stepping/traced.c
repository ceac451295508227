// The program's side of the tracer.
#define _GNU_SOURCE
#include "stepping.h"
#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int note_code(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  stepping_traced *shared = context;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    shared->image = info->dlpi_addr;
    shared->image_low = info->dlpi_addr + part->p_vaddr;
    shared->image_high = shared->image_low + part->p_memsz;
  }
  return 1;   // the first one is the program
}

stepping_traced *stepping_shared(void) {
  static stepping_traced *shared;
  const char *descriptor = getenv("STEPPING_TRACED");
  if (shared || !descriptor) return shared;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(descriptor), 0);
  if (shared == MAP_FAILED) abort();
  dl_iterate_phdr(note_code, shared);
  static const char *const skipped[STEPPING_SKIPPED] = {"malloc", "calloc", "free", "posix_memalign", "aligned_alloc",
                                                        "swift_allocObject", "swift_getTypeByMangledNameInContext"};
  for (int i = 0; i < STEPPING_SKIPPED; i++)
    if (skipped[i]) shared->skipped[i] = (uintptr_t)dlsym(RTLD_DEFAULT, skipped[i]);
  return shared;
}

static void wait_while(uint32_t *word, uint32_t value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

void stepping_begin_traced(uint32_t index) {
  stepping_traced *shared = stepping_shared();
  __atomic_store_n(&shared->threads[index].tid, gettid(), __ATOMIC_RELEASE);
  wait_while(&shared->threads[index].go, 0);
}

void stepping_end_traced(uint32_t index) {
  __atomic_store_n(&stepping_shared()->threads[index].ended, 1, __ATOMIC_RELEASE);
}

void stepping_serve(void) {
  typedef void scan_function(bool copy, bool suspects, const void *watched, void *counts);
  static uint32_t counts[256];
  scan_function *scan = (scan_function *)dlsym(RTLD_DEFAULT, "undead_test_scan");
  stepping_traced *shared = stepping_shared();
  for (uint32_t i = 0; i < shared->count; i++)
    while (!__atomic_load_n(&shared->threads[i].tid, __ATOMIC_ACQUIRE)) usleep(100);
  __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &shared->ready, FUTEX_WAKE, 1, NULL, NULL, 0);
  for (unsigned looks = 0;; looks++) {
    wait_while(&shared->look, 0);
    if (__atomic_load_n(&shared->look, __ATOMIC_ACQUIRE) == 2) return;
    scan(looks % 2, looks / 2 % 2, NULL, counts);
    if (counts[1]) {
      fprintf(stderr, "stepping: look %u ended with error %u\n", looks, counts[1]);
      abort();
    }
    shared->found = counts[0];
    __atomic_store_n(&shared->look, 0, __ATOMIC_RELEASE);
    syscall(SYS_futex, &shared->look, FUTEX_WAKE, 1, NULL, NULL, 0);
  }
}
