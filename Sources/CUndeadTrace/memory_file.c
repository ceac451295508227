#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "undead_memory_file.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

int undead_trace_memory_file(const char *name) {
  // memfd_create is newer than the oldest C library that this works with (platform/images/c_library.h).
  int descriptor = (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */);
  return descriptor < 0 ? -errno : descriptor;
}
#endif
