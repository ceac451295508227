// The metadata of a class whose instance has just died, read without asking the runtime or the memory map: it is what
// the program itself has used a moment ago, so a look at its pages is check enough.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// True if `isa` can be read and looks like the metadata of a class.
bool undead_metadata_is_class(uintptr_t isa);
// True if it is that of boxes of errors.
bool undead_metadata_is_error(uintptr_t isa);
// True if what all types have can be read of it.
bool undead_metadata_is_readable(uintptr_t type);
// True if it looks like that of a closure's context or of the box of a variable.
bool undead_metadata_is_context(uintptr_t isa);

// The slots that a class itself adds to the table of methods. `isa` is its metadata or that of a subclass.
typedef struct {
  uint32_t first, count;      // slots, in words from the isa
  const uint8_t *methods;     // method descriptors, ABI_METHOD_BYTES each
} undead_vtable;
undead_vtable undead_metadata_vtable(uintptr_t class_isa);
// Of how many tables the contents were not those of their class.
uint32_t undead_metadata_misread(void);

// The stored property of `isa` or of a superclass that holds `offset`, "" if it is not known.
const char *undead_metadata_field(uintptr_t isa, uint32_t offset);
// The number of the element that lies there in the storage of an array. False for anything else.
bool undead_metadata_element(uintptr_t isa, uint32_t offset, uint64_t *element);
// The number of the byte of a string that lies there in its storage. False for anything else.
bool undead_metadata_byte(uintptr_t isa, uint32_t offset, uint64_t *byte);
// Whether an `unowned` stored property begins there.
bool undead_metadata_is_unowned(uintptr_t isa, uint32_t offset);

// The module's name and the type's, without generic arguments, of a class: two texts of the image. "" if unknown.
void undead_metadata_names(uintptr_t isa, const char **module, const char **name);

#pragma GCC visibility pop
