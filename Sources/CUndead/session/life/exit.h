// The look for leaks when the program ends.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Callee-saved registers and stack pointer of a function at a call or return, as the assembly stubs store them.
typedef struct {
  uintptr_t registers[6];   // rbx rbp r12 r13 r14 r15
  uintptr_t sp;             // after the return
  uintptr_t return_address;
} undead_call_site;

// Registers the exit handler: runs after the handlers of the program, before the destructors of its libraries.
void undead_exit_register(void);

// Looks up the functions that are interposed here, while that is still safe.
void undead_exit_find_next(void);

// After a fork: the child has not ended yet.
void undead_exit_reset(void);

// Where the program's main was called from, noted by the stub that calls it.
extern undead_call_site undead_main_call;

#pragma GCC visibility pop
