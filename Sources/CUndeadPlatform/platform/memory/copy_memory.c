#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "platform/memory/memory.h"
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

bool undead_copy_memory(uintptr_t address, void *copy, size_t size) {
  struct iovec local = {copy, size}, remote = {(void *)address, size};
  int saved = errno;
  bool done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
  errno = saved;
  return done;
}
#endif
