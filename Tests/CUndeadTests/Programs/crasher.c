// Preloaded after the instrument: a function of libc that it calls while it makes a snapshot crashes on its thread. Later
// the program needs the loader's lock, which that thread must not have kept.
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t readlink(const char *restrict path, char *restrict buffer, size_t size) {
  if (syscall(SYS_gettid) == getpid()) return syscall(SYS_readlink, path, buffer, size);
  const char *how = getenv("CRASHER");
  if (how && strcmp(how, "abort") == 0) abort();
  *(volatile int *)0 = 1;
  return -1;
}

static int count(struct dl_phdr_info *info, size_t size, void *context) {
  (void)info, (void)size;
  ++*(int *)context;
  return 0;
}

__attribute__((destructor)) static void use_the_loader(void) {
  int images = 0;
  alarm(20);
  dl_iterate_phdr(count, &images);
  alarm(0);
}
