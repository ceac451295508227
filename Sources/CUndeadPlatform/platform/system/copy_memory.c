#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/seccomp.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

// A filter that the program was started under may end it for process_vm_readv, which is for debuggers, and can be asked by no trial.
static bool is_filtered(void) {
  static int filters = -1;
  int known = __atomic_load_n(&filters, __ATOMIC_RELAXED);
  if (known < 0) __atomic_store_n(&filters, known = undead_seccomp_filters() > 0, __ATOMIC_RELAXED);
  return known;
}

static bool copy_by_file(uintptr_t address, void *copy, size_t size) {
  int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) return false;
  bool done = pread(memory, copy, size, (off_t)address) == (ssize_t)size;
  close(memory);
  return done;
}

bool undead_copy_memory(uintptr_t address, void *copy, size_t size) {
  struct iovec local = {copy, size}, remote = {(void *)address, size};
  int saved = errno;
  bool done = is_filtered() ? copy_by_file(address, copy, size) : process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
  errno = saved;
  return done;
}
