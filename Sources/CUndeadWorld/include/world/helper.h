// A process that shares this one's memory but nothing else: it can stop every thread of the program, and a crash in it
// (a corrupted heap) does not hurt the program.
#pragma once
#include <stdint.h>

typedef enum {
  UNDEAD_HELPER_DONE,      // `value`: what its function returned
  UNDEAD_HELPER_CRASHED,   // `value`: the signal; `fault`: the address that it could not read
  UNDEAD_HELPER_KILLED,    // `value`: the signal that somebody sent
  UNDEAD_HELPER_TIMEOUT,
  UNDEAD_HELPER_DENIED,    // `value`: errno of clone or of the memory for its stack
} undead_helper_end;

typedef struct {
  undead_helper_end end;
  int value;
  uintptr_t fault;
} undead_helper_report;

// Runs `work` in a helper and waits for it at most `seconds`, then kills it. One at a time. The helper has all signals
// blocked, no open descriptors but the kept one, and uses the calling thread's thread-local storage, which that thread leaves alone.
undead_helper_report undead_helper_run(int (*work)(void *), void *context, uint32_t seconds);

// The open file that helpers have from now on; -1: none, as in the beginning.
void undead_helper_keep(int file);

// Remembers whom the program allows to trace it (prctl PR_SET_PTRACER), which the kernel does not show.
void undead_helper_note_tracer(long pid);

// In the helper: what is to be done if it crashes, before it ends; NULL for nothing. Not inherited by copies.
void undead_helper_before_crash(void (*function)(void *), void *context);

// In the helper: forks a copy of the address space that runs `work` and exits; returns its pid or -errno.
long undead_helper_copy(int (*work)(void *), void *context);
// In the helper: waits for a copy.
undead_helper_report undead_helper_wait_copy(long pid);
// In the helper: ends it as the copy of that report ended, so that the report of the helper says so.
_Noreturn void undead_helper_crash(const undead_helper_report *report);
// In the helper's first thread: ends it as a fault there does.
_Noreturn void undead_helper_fault(int number, uintptr_t address);
