// What the method slots of zombie classes lead to. Swift's calling convention on x86-64: self in r13, the error in r12,
// the async context in r14, the address of an indirect result in rax.
#pragma once
#include "undead_sniffer.h"
#include "zombies/classes/zombie_class.h"
#include "zombies/functions/functions.h"

#pragma GCC visibility push(hidden)

extern const uint8_t undead_method_stubs[UNDEAD_STUB_COUNT * UNDEAD_STUB_BYTES];

extern undead_method_record undead_record_stubs[UNDEAD_STUB_COUNT];

// Stands in the slot of the function that destroys an object.
extern const uint8_t undead_destroy_stub[];

// All of them, for undead_zombie_classes_prepare.
extern const undead_zombie_stubs undead_stubs;

// Registers at the call, as the stub saved them.
typedef struct {
  uintptr_t rdi, rsi, rdx, rcx, r8, r9, rax, r12, self, async_context, rbx, r10, r15, pc, sp, bp;
} undead_message_registers;

// At the call, those that calls preserve.
typedef struct {
  uintptr_t rbx, r12, r13, r14, r15;
} undead_kept_registers;

#define UNDEAD_STOP_HERE 1u   // the stub executes ud2

// Called by the stubs: return the function to jump to with the registers as they were, or UNDEAD_STOP_HERE.
uintptr_t undead_zombie_message(undead_message_registers *registers, uint32_t slot);
uintptr_t undead_zombie_record_message(undead_message_registers *registers, uint32_t slot);
// What a function of the runtime does to an object.
undead_zombie_kind undead_zombie_kind_of_function(undead_swift_function function);
// Returns 0 or UNDEAD_STOP_HERE.
uintptr_t undead_zombie_destroyed(uintptr_t object, uintptr_t pc, uintptr_t sp, uintptr_t bp);
// Of the functions of watching_x86_64.c: a function to go on with, 0 to return the argument, UNDEAD_STOP_HERE.
uintptr_t undead_zombie_touched(uintptr_t object, uint32_t function, uintptr_t pc, uintptr_t sp, uintptr_t bp,
                                const undead_kept_registers *kept);

#pragma GCC visibility pop
