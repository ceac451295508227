// What is known of a type whose objects died, and the class that its dead objects get: a copy of the metadata with
// stubs for methods. Made at the first death, and never given up.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// All zombie classes lie in one range, so that one comparison tells them: literally a number, for the assembler.
#define UNDEAD_ZOMBIE_ISA_BYTES 0x4000000

extern uintptr_t undead_zombie_isas;   // start of the range

#define UNDEAD_STUB_COUNT 2048   // slots, in words from the isa, that have stubs
#define UNDEAD_STUB_BYTES 16

// Async methods, and accessors that are coroutines with a frame made by the caller, are called by way of a record
// (AsyncFunctionPointer, CoroFunctionPointer): a relative pointer to the function, and the bytes of the context or
// frame, which grow to what the largest of the real methods of the slot needs.
typedef struct {
  int32_t function;
  uint32_t context_size;
  uint64_t type_id;   // of a frame, for allocators that want to know
} undead_method_record;

// What stands in the slots of a zombie class (catch/stubs_x86_64.h).
typedef struct {
  const uint8_t *methods;           // UNDEAD_STUB_BYTES for each slot
  undead_method_record *records;    // one for each slot
  const uint8_t *destroy;           // in the slot of the function that destroys an object
} undead_zombie_stubs;

typedef struct undead_zombie_class {
  uintptr_t original;            // isa of the living
  uintptr_t zombie;              // isa of the dead; 0: none could be made
  const char *name;
  bool is_context;               // of a closure, or box of a variable
  bool is_error;                 // box of an error: all boxes have one class, and `original` is the type of what is in it
  bool keep;                     // goes to the quarantine
  bool guard;                    // gets pages of its own
  bool is_storage;               // of arrays, strings, hash tables and buffers: a class of the standard library
  uint32_t slot_count;           // words of the metadata from the isa on
  const uint8_t *methods;        // for each: flags of the method (ABI_METHOD_*) | UNDEAD_SLOT_IS_METHOD, 0: no method
} undead_zombie_class;
#define UNDEAD_SLOT_IS_METHOD 0x80

static inline bool undead_is_zombie_isa(uintptr_t isa) { return isa - undead_zombie_isas < UNDEAD_ZOMBIE_ISA_BYTES; }

// Reserves the range. False without memory.
bool undead_zombie_classes_prepare(const undead_zombie_stubs *stubs);

#define UNDEAD_CLASS_CACHE 4096u
extern undead_zombie_class *undead_class_cache[UNDEAD_CLASS_CACHE];

undead_zombie_class *undead_zombie_class_find(uintptr_t isa);

// What is known of the type with this isa; NULL if it is none, or there is no room. Fast for a known one.
static inline __attribute__((always_inline)) undead_zombie_class *undead_zombie_class_of(uintptr_t isa) {
  uint32_t place = (uint32_t)(isa >> 3 ^ isa >> 15) & (UNDEAD_CLASS_CACHE - 1);
  undead_zombie_class *known = __atomic_load_n(&undead_class_cache[place], __ATOMIC_ACQUIRE);
  if (__builtin_expect(known && known->original == isa, 1)) return known;
  return undead_zombie_class_find(isa);
}

// What is known of the error of this type in a box.
const undead_zombie_class *undead_zombie_class_of_error(uintptr_t type);

// The type that a zombie's isa stands for. Async-signal-safe.
const undead_zombie_class *undead_zombie_class_of_isa(uintptr_t zombie);

// Looks at the lists of types again.
void undead_zombie_classes_apply_lists(void);
uint64_t undead_zombie_class_count(void);

void undead_zombie_classes_before_fork(void);
void undead_zombie_classes_after_fork(void);

#pragma GCC visibility pop
