// What Swift cannot call itself: ptrace is variadic, and code that is put into another process must be position-independent.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

// One ptrace request; minus the error number if it failed.
int64_t undead_trace_request(int request, pid_t tid, uint64_t address, uint64_t data);

// Reads a word of another process by process_vm_readv(2), and forgets it; minus the error number if that is refused.
int undead_trace_read_word(pid_t pid, uint64_t address);

// As waitpid(2); minus the error number if it failed.
int undead_trace_wait(pid_t tid, int *status, int options);

// Code for a page of a copied or resurrected process: an allocator that needs no lock and no state of the program's own.
// Its two variables lie in the page behind it (`undead_trace_blob_data`): next free address, end.
typedef enum {
  UNDEAD_TRACE_MALLOC,
  UNDEAD_TRACE_CALLOC,
  UNDEAD_TRACE_REALLOC,
  UNDEAD_TRACE_FREE,
  UNDEAD_TRACE_MEMALIGN,
  UNDEAD_TRACE_POSIX_MEMALIGN,
  UNDEAD_TRACE_ZERO,         // returns 0
  UNDEAD_TRACE_SYSTEM_CALL,  // `syscall`, then a trap
  UNDEAD_TRACE_TRAP,
  UNDEAD_TRACE_ENTRIES
} undead_trace_entry;

// The code and its size.
const uint8_t *undead_trace_blob(size_t *size);

// Where an entry lies in the code.
size_t undead_trace_blob_offset(undead_trace_entry entry);

// How far behind the start of the code its variables lie.
size_t undead_trace_blob_data(void);
