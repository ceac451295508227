#if defined(__linux__) && __has_include(<gnu/libc-version.h>)  // glibc
// Which process this is, for what a child inherits and must not use: an epoll set or an eventfd is one object for both.
#define _GNU_SOURCE
#include "CUndeadRunLoop.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// 0 in a process that has not asked yet: the page of a child is empty however it was forked.
static _Atomic uint32_t *present;
static _Atomic uint32_t without_page;
static _Atomic uint32_t count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void) { atomic_store(&without_page, 0); }

static void find_present(void) {
  long size = sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED && madvise(page, (size_t)size, MADV_WIPEONFORK) == 0) {
    present = page;
    return;
  }
  if (page != MAP_FAILED) munmap(page, (size_t)size);
  present = &without_page;
  pthread_atfork(NULL, NULL, forget);
}

uint32_t undead_loop_process(void) {
  pthread_once(&once, find_present);
  uint32_t known = atomic_load(present);
  if (known != 0) return known;
  uint32_t next = atomic_fetch_add(&count, 1) + 1;
  return atomic_compare_exchange_strong(present, &known, next) ? next : known;
}

bool undead_loop_is_process(uint32_t process) { return present && atomic_load(present) == process; }

void undead_loop_at_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
  pthread_atfork(before, in_parent, in_child);
}

// "anon_inode:[eventfd]" and the like; empty if there is none, or no /proc.
static void read_kind(int descriptor, char *kind, size_t capacity) {
  enum { path_bytes = 32 };
  char path[path_bytes];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(path, kind, capacity - 1);
  kind[length < 0 ? 0 : length] = 0;
}

int undead_loop_replace(int descriptor, int replacement) {
  enum { kind_bytes = 64 };
  char old[kind_bytes] = "", new[kind_bytes];
  if (replacement < 0) return replacement;
  // The program may have closed the old one, and got its number again for a file.
  if (descriptor >= 0) read_kind(descriptor, old, sizeof old);
  read_kind(replacement, new, sizeof new);
  if (!old[0] || strcmp(old, new) != 0 || dup3(replacement, descriptor, O_CLOEXEC) < 0) return replacement;
  close(replacement);
  return descriptor;
}
#endif
