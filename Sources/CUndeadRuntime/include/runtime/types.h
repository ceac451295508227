// Metadata of types: their fields with offsets, asked from the runtime once and kept.
#pragma once
#include "runtime/descriptors.h"

// What the runtime keeps of its messages about dropped continuations, all of them in each block (stdlib/public/Concurrency,
// CheckedContinuation.swift: "SWIFT TASK CONTINUATION MISUSE: ..."), begins so: "SWIFT TA". Other words only cost the name.
#define UNDEAD_MISUSE_MESSAGE 0x4154205446495753ull

typedef struct {
  uint32_t offset;       // in the value (of a class: in the instance)
  uint32_t size;         // bytes, without padding
  const char *name;      // "" if it has none
  uintptr_t type;        // metadata, 0 if it could not be resolved
  undead_mangled mangled; // address 0 for tuples
  uint8_t ownership;     // undead_ownership
  bool indirect;         // enum case whose payload is in a box
  uint8_t simple;        // undead_simple, if the type was left unresolved for that
} undead_field;

typedef struct {
  uint32_t count;
  undead_field field[];
} undead_fields;

uint32_t undead_type_kind(uintptr_t type);        // ABI_KIND_*, UINT32_MAX if it is not readable metadata
uintptr_t undead_type_descriptor(uintptr_t type); // of a class, struct or enum, else 0
// Size and alignment mask of a value; false if the metadata is not complete.
bool undead_type_layout(uintptr_t type, size_t *size, size_t *stride, uint32_t *flags);
// True if the layout of a type that the runtime returned can be read. The world must be running: may read the memory map again.
bool undead_type_is_readable(uintptr_t type);
// True if values stand in a buffer of ABI_EXISTENTIAL_BUFFER_BYTES with their type behind it.
bool undead_type_is_opaque_existential(uintptr_t type);
typedef struct {
  uint8_t bytes;     // of the buffer that are in use
  uint8_t counted;   // bit i: the word at 8 * i is certainly a counted reference: to an object, to the box of a larger value
  uint8_t numbers;   // the same: certainly a number
} undead_buffer_use;
// How a value of this type (0: none) uses such a buffer. Does not call the runtime; needs the memory map. The scan's thread only.
undead_buffer_use undead_buffer_use_of(uintptr_t type);
// Where the generic arguments of a class stand (types first, in the order of its parameters), 0 if it is not generic.
uintptr_t undead_class_arguments(uintptr_t isa);
// Own fields of a class (not those of its superclass), fields of a struct or tuple, cases of an enum. Never NULL.
const undead_fields *undead_fields_of(uintptr_t type);
// The same, but without the types of fields that are simple by their names: making types takes time and memory.
const undead_fields *undead_fields_lazily(uintptr_t type);
undead_fields *undead_new_fields(uint32_t count);
// The field that holds `offset`, or NULL.
const undead_field *undead_field_at(const undead_fields *fields, size_t offset);
// A type from its mangled name; 0 if it cannot be resolved.
uintptr_t undead_type_of_name(const undead_mangled *name, uintptr_t descriptor, uintptr_t arguments);
// The type with this descriptor, which takes one argument or, if that is 0, none. 0 if it takes others. The world must be running.
uintptr_t undead_type_of_descriptor(uintptr_t descriptor, uintptr_t argument);
// The type of a field that cannot be copied, which its record does not show, by the symbols of its file; 0 if they do not either.
uintptr_t undead_type_of_noncopyable(const undead_mangled *name);
