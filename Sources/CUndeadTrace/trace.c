#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "undead_trace.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

int64_t undead_trace_request(int request, pid_t tid, uint64_t address, uint64_t data) {
  long result = syscall(SYS_ptrace, (long)request, (long)tid, address, data);
  return result < 0 ? -errno : result;
}

int undead_trace_wait(pid_t tid, int *status, int options) {
  pid_t result;
  do {
    result = waitpid(tid, status, options | __WALL);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : result;
}

int undead_trace_read_word(pid_t pid, uint64_t address) {
  uint64_t word;
  struct iovec here = {&word, sizeof(word)}, there = {(void *)(uintptr_t)address, sizeof(word)};
  return process_vm_readv(pid, &here, 1, &there, 1, 0) < 0 ? -errno : 0;
}


extern const uint8_t undead_blob_start[], undead_blob_end[], undead_blob_malloc[], undead_blob_calloc[],
  undead_blob_realloc[], undead_blob_free[], undead_blob_memalign[], undead_blob_posix_memalign[], undead_blob_zero[],
  undead_blob_system_call[], undead_blob_trap[];

const uint8_t *undead_trace_blob(size_t *size) {
  *size = (size_t)(undead_blob_end - undead_blob_start);
  return undead_blob_start;
}

size_t undead_trace_blob_offset(undead_trace_entry entry) {
  static const uint8_t *const entries[UNDEAD_TRACE_ENTRIES] = {
    undead_blob_malloc, undead_blob_calloc, undead_blob_realloc, undead_blob_free, undead_blob_memalign,
    undead_blob_posix_memalign, undead_blob_zero, undead_blob_system_call, undead_blob_trap,
  };
  assert(entry < UNDEAD_TRACE_ENTRIES);
  return (size_t)(entries[entry] - undead_blob_start);
}


size_t undead_trace_blob_data(void) {
  return 4096;
}
#endif
