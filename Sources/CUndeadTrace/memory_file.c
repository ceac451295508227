#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "undead_memory_file.h"

#include <errno.h>
#include <sys/mman.h>

int undead_trace_memory_file(const char *name) {
  int descriptor = memfd_create(name, MFD_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}
#endif
