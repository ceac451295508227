// Nominal types and mangled names, read statically: nothing here calls the runtime.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A mangled type name in an image: its bytes contain symbolic references.
typedef struct {
  uintptr_t address;
  size_t length;          // 0: unreadable
  char operators[2];      // the last two bytes that are no part of a reference, e.g. "Xw"
  bool ends_in_reference;
} undead_mangled;
undead_mangled undead_mangled_at(uintptr_t address);
// Bytes of the symbolic reference that starts with `byte`, 0 if none does.
size_t undead_reference_bytes(uint8_t byte);

typedef enum { UNDEAD_STRONG = 0, UNDEAD_WEAK = 1, UNDEAD_UNOWNED = 2, UNDEAD_UNMANAGED = 3 } undead_ownership;
undead_ownership undead_mangled_ownership(const undead_mangled *name);

// True if a value is one pointer to an object, whatever its generic arguments: a class, an array, dictionary or set, a struct of
// one such field.
bool undead_mangled_is_one_object(const undead_mangled *name);

// The context descriptor (nominal type, protocol) that the name starts with a reference to, 0 if it starts with something else.
uintptr_t undead_mangled_context(const undead_mangled *name);

// The nominal type that the name starts with, 0 if it starts with something else.
uintptr_t undead_mangled_descriptor(const undead_mangled *name);

// What a value is if its name alone shows: for these no type need be made.
typedef enum {
  UNDEAD_SIMPLE_NOT = 0,
  UNDEAD_SIMPLE_OBJECT,      // a reference to an object, or none
  UNDEAD_SIMPLE_NUMBER,
  UNDEAD_SIMPLE_TEXT,        // a string, or none
  UNDEAD_SIMPLE_FUNCTION,    // an escaping function of Swift: code and context
  UNDEAD_SIMPLE_FUNCTION_OR_NIL,
} undead_simple;
// Its size goes to `size`.
undead_simple undead_mangled_simple(const undead_mangled *name, uint32_t *size);

uint32_t undead_descriptor_kind(uintptr_t descriptor);    // ABI_CONTEXT_*
const char *undead_descriptor_name(uintptr_t descriptor); // "Timer", "" if it has none
const char *undead_descriptor_module(uintptr_t descriptor);
bool undead_descriptor_is(uintptr_t descriptor, const char *module, const char *name);
// True for types of the toolchain's modules, wherever they were linked.
bool undead_descriptor_is_toolchain(uintptr_t descriptor);
bool undead_is_toolchain_module(const char *module);
// True for types of this package's own libraries.
bool undead_descriptor_is_own(uintptr_t descriptor);

typedef struct {
  uintptr_t fields, first_record;
  uint32_t count;
} undead_records;
// The field records of a nominal type; none if reflection metadata was stripped.
undead_records undead_records_of(uintptr_t descriptor);
