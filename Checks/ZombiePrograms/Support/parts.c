#define _GNU_SOURCE
#include "parts.h"
#include <dlfcn.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread jmp_buf place;
static __thread int calls;

static __attribute__((noinline)) void descend(int depth, parts_function function, void *context) {
  volatile char room[64];
  room[0] = (char)depth;
  calls++;
  function(context);
  if (depth == 0) longjmp(place, 1 + room[0]);
  descend(depth - 1, function, context);
  room[1] = 1;
}

int parts_jump(int depth, parts_function function, void *context) {
  calls = 0;
  if (setjmp(place) == 0) descend(depth, function, context);
  return calls;
}

long parts_lines(int count) {
  char *text = NULL, *line = NULL;
  size_t size = 0, room = 0;
  FILE *out = open_memstream(&text, &size);
  for (int i = 0; i < count; i++) fprintf(out, "%*d line\n", i % 90, i);
  fclose(out);
  FILE *in = fmemopen(text, size, "r");
  long sum = 0, bytes;
  while ((bytes = getline(&line, &room, in)) > 0) {
    char *copy = strdup(line), *part = strndup(line + bytes / 2, 7), *more = NULL;
    sum += asprintf(&more, "%s%s", copy, part);
    free(copy);
    free(part);
    free(more);
  }
  fclose(in);
  free(line);
  free(text);
  return sum;
}

static void *block_of(unsigned kind, size_t size) {
  void *block = NULL;
  switch (kind % 7) {
  case 0: return malloc(size);
  case 1: return calloc(1, size);
  case 2: return aligned_alloc(64, (size + 63) & ~63ul);
  case 3: return posix_memalign(&block, 4096, size) ? NULL : block;
  case 4: return memalign(32, size);
  case 5: return reallocarray(NULL, size, 1);
  default: return valloc(size);
  }
}

long parts_blocks(unsigned seed, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    size_t size = 1 + (seed >> 8) % (seed % 5 ? 600 : 200000);
    unsigned char *block = block_of(seed >> 4, size);
    memset(block, i, size);
    // What malloc_usable_size() promises may be used.
    memset(block, i, malloc_usable_size(block));
    size_t next = 1 + (seed >> 12) % 100000;
    block = realloc(block, next);
    sum += block[0] + block[(next < size ? next : size) - 1];
    free(block);
  }
  char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  map[8191] = 3;
  map = mremap(map, 8192, 65536, MREMAP_MAYMOVE);
  sum += map[8191];
  munmap(map, 65536);
  return sum;
}

void *parts_grow(void *block, size_t size) { return realloc(block, size); }

struct parts_list {
  struct element {
    struct element *next;
    void *context;
  } *first;
};

parts_list *parts_list_new(void) { return calloc(1, sizeof(parts_list)); }
void parts_list_add(parts_list *list, void *context) {
  struct element *element = malloc(sizeof *element);
  *element = (struct element){list->first, context};
  list->first = element;
}
void parts_list_end(parts_list *list, parts_function end) {
  while (list->first) {
    struct element *element = list->first;
    list->first = element->next;
    end(element->context);
    free(element);
  }
  free(list);
}

int parts_library(const char *path, int number) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return -1;
  int (*function)(int) = (int (*)(int))dlsym(library, "plugin_answer");
  int answer = function ? function(number) : -2;
  dlclose(library);
  return answer;
}

static volatile sig_atomic_t faults;
static char *watched;
static size_t watched_bytes;

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)context;
  char *at = info->si_addr;
  if (at < watched || at >= watched + watched_bytes) _exit(99);
  faults++;
  mprotect((char *)((uintptr_t)at & ~4095ul), 4096, PROT_READ | PROT_WRITE);
  (void)signal;
}

int parts_faults(int pages) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
  watched_bytes = (size_t)pages * 4096;
  watched = mmap(NULL, watched_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  faults = 0;
  sigaction(SIGSEGV, &action, &before);
  for (int i = 0; i < pages; i++) watched[i * 4096 + i] = (char)i;
  sigaction(SIGSEGV, &before, NULL);
  munmap(watched, watched_bytes);
  return faults;
}

int parts_fork(void) { return fork(); }

void *parts_ready(int file, void *context) {
  int queue = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLOUT, .data.ptr = context}, *events = calloc(4, sizeof *events);
  epoll_ctl(queue, EPOLL_CTL_ADD, file, &event);
  void *answer = epoll_wait(queue, events, 4, -1) == 1 ? events->data.ptr : NULL;
  free(events);
  close(queue);
  return answer;
}
