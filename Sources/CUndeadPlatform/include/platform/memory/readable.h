// What proves that memory can be read. The memory map (maps.h) is of the scan's thread; a thread of the program asks the kernel
// instead, page by page, between undead_ask_kernel_begin and undead_ask_kernel_end. The same readers of metadata serve both.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { UNDEAD_KNOWN_PAGES = 4 };

typedef struct {
  bool asks;
  uint32_t next;
  // That the kernel lets read, since the thread began to ask; 0: none. Complements: thread-local storage is a root, and a block that
  // begins in such a page may have leaked.
  uintptr_t not_pages[UNDEAD_KNOWN_PAGES];
} undead_read_proof;

extern __thread undead_read_proof undead_thread_proof __attribute__((tls_model("initial-exec")));

// From now on this thread asks the kernel. Answers are kept until the end: meanwhile, somebody must keep in place all that is
// read, as a closure that is being called keeps its context and its code. Not nested; async-signal-safe, keeps errno.
void undead_ask_kernel_begin(void);
void undead_ask_kernel_end(void);

static inline bool undead_reads_ask_kernel(void) { return __builtin_expect(undead_thread_proof.asks, 0); }

// As undead_is_readable and undead_readable_bytes.
bool undead_kernel_lets_read(uintptr_t address, size_t size);
size_t undead_kernel_readable_bytes(uintptr_t address, size_t most);

#pragma GCC visibility pop
