// The allocator's functions behave as glibc's, and the registry knows exactly the live blocks. Linked with the sources of
// the instrument.
#define _GNU_SOURCE
#include "check.h"
#include "platform/memory/thread_state.h"
#include "record/mode.h"
#include "record/registry.h"
#include "unwind/backtrace.h"
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile size_t huge = SIZE_MAX / 2 + 64;

static uint32_t word(void *block) {
  uint32_t *slot = undead_registry_slot((uintptr_t)block);
  return slot ? *slot : 0;
}

static void check_known(void *block, size_t alignment, size_t size) {
  CHECK(block != NULL && errno == 77);
  CHECK((uintptr_t)block % alignment == 0);
  CHECK(malloc_usable_size(block) >= size && undead_block_size((uintptr_t)block) >= size);
  CHECK(word(block) > UNDEAD_BACKTRACE_NONE && word(block) <= UNDEAD_WORD_BACKTRACE);
  uintptr_t frames[4];
  CHECK(undead_backtrace_frames(word(block), frames, 4) >= 2);
  free(block);
  CHECK(errno == 77 && word(block) == 0);
}

static void successes(void) {
  void *aligned = NULL;
  errno = 77;
  check_known(malloc(10), 16, 10);
  check_known(malloc(0), 16, 0);
  check_known(malloc(300000), 16, 300000);
  check_known(calloc(3, 7), 16, 21);
  check_known(realloc(NULL, 40), 16, 40);
  check_known(reallocarray(NULL, 4, 10), 16, 40);
  check_known(memalign(256, 10), 256, 10);
  check_known(aligned_alloc(64, 128), 64, 128);
  check_known(valloc(10), 4096, 10);
  check_known(pvalloc(10), 4096, 4096);
  CHECK(posix_memalign(&aligned, 128, 99) == 0);
  check_known(aligned, 128, 99);
  free(NULL);
  CHECK(errno == 77);
}

#define CHECK_FAILS(call, error) \
  do {                           \
    errno = 77;                  \
    CHECK((call) == NULL);       \
    CHECK(errno == (error));     \
  } while (0)

static void fails(void) {
  void *untouched = &failures;
  CHECK_FAILS(malloc(huge), ENOMEM);
  CHECK_FAILS(calloc(huge, 4), ENOMEM);
  CHECK_FAILS(reallocarray(NULL, huge, 4), ENOMEM);
  CHECK_FAILS(memalign(64, huge), ENOMEM);
  CHECK_FAILS(pvalloc(SIZE_MAX - 10), ENOMEM);
  CHECK(posix_memalign(&untouched, 3, 10) == EINVAL);
  CHECK(posix_memalign(&untouched, 0, 10) == EINVAL);
  CHECK(posix_memalign(&untouched, 64, huge) == ENOMEM);
  CHECK(untouched == &failures);
}

static void resizes(void) {
  char *block = malloc(20);
  uint32_t first = word(block);
  strcpy(block, "contents");
  errno = 77;
  CHECK(realloc(block, huge) == NULL && errno == ENOMEM);
  CHECK(word(block) == first && strcmp(block, "contents") == 0);
  CHECK(reallocarray(block, huge, 4) == NULL && word(block) == first);
  char *larger = realloc(block, 5000);
  CHECK(word(larger) > UNDEAD_BACKTRACE_NONE && word(larger) != first && strcmp(larger, "contents") == 0);
  CHECK(larger == block || word(block) == 0);
  uintptr_t old = (uintptr_t)larger;
  CHECK(realloc(larger, 0) == NULL);
  CHECK(word((void *)old) == 0);
}

static void switches(void) {
  void *known = malloc(30);
  undead_thread.ignored++;
  void *ignored = malloc(30);
  CHECK(word(ignored) == 0);
  known = realloc(known, 3000);
  CHECK(word(known) != 0);
  free(known);
  CHECK(word(known) == 0);
  undead_thread.ignored--;
  free(ignored);

  void *before = malloc(30);
  undead_record_stop();
  void *unrecorded = malloc(30);
  CHECK(word(unrecorded) == 0);
  free(before);
  CHECK(word(before) == 0);
  undead_record_start(UNDEAD_RECORD_BLOCKS);
  void *plain = malloc(30);
  CHECK(word(plain) == UNDEAD_BACKTRACE_NONE);
  undead_record_start(UNDEAD_RECORD_BACKTRACES);
  free(plain);
  free(unrecorded);
  CHECK(undead_thread.in_hook == 0);
}

typedef struct {
  uintptr_t *wanted;
  size_t found, unordered;
  uintptr_t last;
} listing;

static bool visit(void *context, uintptr_t block, uint32_t *slot) {
  listing *list = context;
  if (block <= list->last) list->unordered++;
  list->last = block;
  for (size_t index = 0; index < 100; index++) list->found += list->wanted[index] == block && *slot != 0;
  return true;
}

static void lists(void) {
  static uintptr_t blocks[100];
  for (size_t index = 0; index < 100; index++) blocks[index] = (uintptr_t)malloc(index % 10 ? index * 40 : 1 << 20);
  listing list = {.wanted = blocks};
  undead_registry_each(visit, &list);
  CHECK(list.found == 100 && list.unordered == 0);
  for (size_t index = 0; index < 100; index += 2) free((void *)blocks[index]);
  list = (listing){.wanted = blocks};
  undead_registry_each(visit, &list);
  CHECK(list.found == 50);
}

int main(void) {
  CHECK(undead_hooks_available);
  successes();
  fails();
  resizes();
  switches();
  lists();
  return failures != 0;
}
