// What the method slots of zombie classes lead to. Swift's calling convention on x86-64: self in r13, the error in r12,
// the async context in r14, the address of an indirect result in rax.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_STUB_COUNT 2048   // slots, in words from the isa, that have stubs
#define UNDEAD_STUB_BYTES 16

extern const uint8_t undead_method_stubs[UNDEAD_STUB_COUNT * UNDEAD_STUB_BYTES];

// Async methods, and accessors that are coroutines with a frame made by the caller, are called by way of a record
// (AsyncFunctionPointer, CoroFunctionPointer): a relative pointer to the function, and the bytes of the context or
// frame, which grow to what the largest of the real methods of the slot needs.
typedef struct {
  int32_t function;
  uint32_t context_size;
  uint64_t type_id;   // of a frame, for allocators that want to know
} undead_method_record;
extern undead_method_record undead_record_stubs[UNDEAD_STUB_COUNT];

// Stands in the slot of the function that destroys an object.
extern const uint8_t undead_destroy_stub[];

// Registers at the call, as the stub saved them.
typedef struct {
  uintptr_t rdi, rsi, rdx, rcx, r8, r9, rax, r12, self, async_context, rbx, r10, r15, pc, sp, bp;
} undead_message_registers;

#define UNDEAD_STOP_HERE 1u   // the stub executes ud2

// Called by the stubs: return the function to jump to with the registers as they were, or UNDEAD_STOP_HERE.
uintptr_t undead_zombie_message(undead_message_registers *registers, uint32_t slot);
uintptr_t undead_zombie_record_message(undead_message_registers *registers, uint32_t slot);
// Returns 0 or UNDEAD_STOP_HERE.
uintptr_t undead_zombie_destroyed(uintptr_t object, uintptr_t pc, uintptr_t sp, uintptr_t bp);
// Of the entry points of entries_x86_64.c: a function to go on with, 0 to return the argument, UNDEAD_STOP_HERE.
uintptr_t undead_zombie_touched(uintptr_t object, uint32_t function, uintptr_t pc, uintptr_t sp, uintptr_t bp);

#pragma GCC visibility pop
