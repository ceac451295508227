// Knows which of its blocks are in use, and asks glibc's own tables for them in a copy of itself: arenas.c SEED THREADS STEPS WAY.
// WAY: plain, pieces (sbrk fails, the main arena is mapped), gap (others have memory from sbrk), heaps (arenas of several heaps),
// mapped (many blocks with mappings of their own), numbers (stacks and memory of others hold what looks like such blocks), held (a thread has locked an arena), damaged (a chunk's size is
// wrong), locked (both).
#define _GNU_SOURCE
#include "../record/check.h"
#include "glibc/heap.h"
#include "platform/maps/maps.h"
#include "record/registry.h"
#include <gnu/libc-version.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLOTS = 4000, MOST_THREADS = 64 };

typedef struct {
  void *block;      // in use
  size_t size;
  void *freed;      // was in use
} slot;

static slot slots[MOST_THREADS][SLOTS];
static uintptr_t pointers[MOST_THREADS], stack_pointers[MOST_THREADS];
static pthread_barrier_t all_there, built, looked;
static unsigned thread_count, steps, seed;
static const char *way;
static void *victim;   // a block that is in use besides those of the threads

static size_t size_for(unsigned *random) {
  unsigned kind = (unsigned)rand_r(random) % 100, n = (unsigned)rand_r(random);
  if ((!strcmp(way, "mapped") || !strcmp(way, "numbers")) && kind < 5) return (128 << 10) + n % (1 << 20);
  if (!strcmp(way, "heaps") && kind < 80) return 40000 + n % 80000;
  if (kind < 70) return n % 500;
  if (kind < 95) return n % 5000;
  return kind < 99 ? n % 60000 : n % 400000;
}

static void *allocate(unsigned *random, size_t size) {
  void *block = NULL;
  switch ((unsigned)rand_r(random) % 8) {
  case 0: return calloc(1, size);
  case 1: return posix_memalign(&block, (size_t)16 << (rand_r(random) % 11), size) ? NULL : block;
  default: return malloc(size);
  }
}

static void step(slot *mine, unsigned *random) {
  slot *at = &mine[(unsigned)rand_r(random) % SLOTS];
  size_t size = size_for(random);
  if (!at->block) {
    at->block = allocate(random, size);
    at->size = size;
    at->freed = NULL;
    return;
  }
  void *before = at->block;
  if (rand_r(random) % 5 == 0) {
    at->block = realloc(before, size + 1);
    at->size = size + 1;
    return;
  }
  free(before);
  at->block = NULL;
  at->freed = before;
}

// Headers of blocks with mappings of their own, as counters on a page may be.
static void write_numbers(void *memory, size_t size) {
  for (uintptr_t page = ((uintptr_t)memory + 4095) & ~(uintptr_t)4095; page + 8192 <= (uintptr_t)memory + size; page += 4096) {
    ((size_t *)page)[0] = 0;
    ((size_t *)page)[1] = 4096 | 2;
  }
}

// In the middle of memory, such as an allocator of the program's own has from the kernel.
static void keep_numbers(void) {
  char *memory = mmap(NULL, 64 << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  for (int page = 3; page < 60; page += 7) write_numbers(memory + page * 4096, 8192);
}

static void build(unsigned thread) {
  unsigned random = seed * 1000 + thread;
  pointers[thread] = (uintptr_t)__builtin_thread_pointer();
  stack_pointers[thread] = (uintptr_t)__builtin_frame_address(0);
  for (unsigned i = 0; i < steps; i++) step(slots[thread], &random);
}

// An arena whose thread has ended is the next thread's: nobody ends before all have their own.
static void meet(void) {
  free(malloc(10));
  pthread_barrier_wait(&all_there);
}

static void *work(void *argument) {
  char frame[1 << 16];
  meet();
  build((unsigned)(uintptr_t)argument);
  if (!strcmp(way, "numbers")) write_numbers(frame, sizeof frame);
  __asm__ volatile("" : : "r"(frame) : "memory");
  pthread_barrier_wait(&built);
  pthread_barrier_wait(&looked);
  return NULL;
}

// Its cache goes back to the arena when it ends.
static void *end_early(void *argument) {
  (void)argument;
  void *blocks[500];
  meet();
  for (int i = 0; i < 500; i++) blocks[i] = malloc((size_t)(i * 7));
  for (int i = 0; i < 500; i++) free(blocks[i]);
  return NULL;
}

static undead_glibc_heap heap;

static int visit_image(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size, (void)context;
  uintptr_t inside = (uintptr_t)gnu_get_libc_version, low = UINTPTR_MAX, high = 0;
  size_t storage = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
    if (segment->p_type == PT_TLS) storage = segment->p_memsz;
    if (segment->p_type != PT_LOAD) continue;
    if (start < low) low = start;
    if (end > high) high = end;
    if (segment->p_flags & PF_W) heap.data = (undead_glibc_area){start, end};
  }
  if (inside < low || inside >= high) return 0;
  heap.storage_far = (uintptr_t)__builtin_thread_pointer() - (uintptr_t)info->dlpi_tls_data;
  heap.storage_near = heap.storage_far - ((storage + 7) & ~(size_t)7);
  return 1;
}

static int compare_address(const void *left, const void *right) {
  uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
  return a < b ? -1 : a > b;
}

static uintptr_t in_use[MOST_THREADS * SLOTS + 1];

static bool is_in_use(size_t count, uintptr_t address) {
  return bsearch(&address, in_use, count, sizeof address, compare_address) != NULL;
}

static bool starts(uintptr_t address) {
  const uint32_t *slot = undead_registry_slot(address);
  return slot && *slot;
}

// All that is in use is there, and nothing that was freed is.
static void compare(void) {
  size_t count = 0, others = 0;
  in_use[count++] = (uintptr_t)victim;
  for (unsigned t = 0; t < thread_count; t++)
    for (unsigned i = 0; i < SLOTS; i++)
      if (slots[t][i].block) in_use[count++] = (uintptr_t)slots[t][i].block;
  qsort(in_use, count, sizeof *in_use, compare_address);
  for (unsigned t = 0; t < thread_count; t++)
    for (unsigned i = 0; i < SLOTS; i++) {
      const slot *at = &slots[t][i];
      if (at->block) CHECK(starts((uintptr_t)at->block) && undead_block_size((uintptr_t)at->block) >= at->size);
      else if (at->freed && !is_in_use(count, (uintptr_t)at->freed)) others += starts((uintptr_t)at->freed);
    }
  // libc has a few of its own, even where others were freed.
  CHECK(others < 4);
  CHECK(heap.blocks >= count && heap.blocks < count + 200);
}

static int look(void) {
  heap.threads = pointers;
  heap.stack_pointers = stack_pointers;
  heap.thread_count = thread_count;
  dl_iterate_phdr(visit_image, NULL);
  CHECK(undead_maps_refresh());
  undead_glibc_result result = undead_glibc_find(&heap);
  if (!strcmp(way, "damaged")) CHECK(result == UNDEAD_GLIBC_UNSETTLED);
  else if (!strcmp(way, "locked")) CHECK(result == UNDEAD_GLIBC_LOCKED);
  else if (result == UNDEAD_GLIBC_OK) compare();
  else fprintf(stderr, "%s\n", heap.message);
  bool expected = result == UNDEAD_GLIBC_OK || !strcmp(way, "damaged") || !strcmp(way, "locked");
  CHECK(expected);
  printf("glibc %s: %s, %u arenas, %u heaps, %u mapped, %u caches, %lu blocks, %lu free, %lu cached\n",
         gnu_get_libc_version(), way, heap.arenas, heap.heaps, heap.mapped, heap.caches, heap.blocks, heap.free_chunks,
         heap.cached);
  fflush(stdout);
  return failures ? 1 : 0;
}

static void prepare(void) {
  if (!strcmp(way, "numbers")) keep_numbers();
  if (!strcmp(way, "mapped") || !strcmp(way, "numbers")) mallopt(M_MMAP_THRESHOLD, 128 << 10);   // which then stays there
  if (!strcmp(way, "gap")) {
    free(malloc(100000));
    CHECK(sbrk(10000) != (void *)-1);
  }
  if (!strcmp(way, "pieces")) {
    free(malloc(1000));
    uintptr_t end = ((uintptr_t)sbrk(0) + 4095) & ~(uintptr_t)4095;
    CHECK(mmap((void *)end, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (void *)end);
  }
}

// With all other threads gone, as in a replica: without the handlers of fork, which would lock the arenas.
static int ask_copy(void) {
  pid_t copy = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (copy == 0) _exit(look());
  int status = 0;
  CHECK(waitpid(copy, &status, 0) == copy);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return failures ? 1 : 0;
}

static void spoil(void) {
  victim = malloc(200);
  if (!strcmp(way, "damaged") || !strcmp(way, "locked")) ((size_t *)victim)[-1] = 17;   // no chunk is that small
  // The first word of an arena is its lock; that of a thread's lies behind the header of its heap.
  for (unsigned i = 0; i < SLOTS && (!strcmp(way, "locked") || !strcmp(way, "held")); i++) {
    uintptr_t block = (uintptr_t)slots[1][i].block, heap_of = block & ~((64ull << 20) - 1);
    if (!block || (((size_t *)block)[-1] & 6) != 4) continue;
    *(int *)(*(uintptr_t *)heap_of) = 1;
    break;
  }
}

int main(int count, char **arguments) {
  if (count < 5) return 64;
  seed = (unsigned)atoi(arguments[1]);
  thread_count = (unsigned)atoi(arguments[2]);
  steps = (unsigned)atoi(arguments[3]);
  way = arguments[4];
  prepare();
  pthread_t threads[MOST_THREADS], early;
  pthread_barrier_init(&all_there, NULL, thread_count);
  pthread_barrier_init(&built, NULL, thread_count);
  pthread_barrier_init(&looked, NULL, thread_count);
  for (unsigned i = 1; i < thread_count; i++) pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
  pthread_create(&early, NULL, end_early, NULL);
  pthread_join(early, NULL);
  build(0);
  pthread_barrier_wait(&built);
  spoil();
  int result = ask_copy();
  if (result == 0 && strcmp(way, "damaged") && strcmp(way, "locked") && strcmp(way, "held")) {
    pthread_barrier_wait(&looked);
    for (unsigned i = 1; i < thread_count; i++) pthread_join(threads[i], NULL);
  }
  _exit(result);
}
