// What closure contexts and local boxes hold.
#pragma once
#include "runtime/descriptors.h"
#include "runtime/types.h"

typedef struct {
  uintptr_t address;   // of the capture descriptor, 0: there is none
  uint32_t types, sources, bindings;
  uint32_t first;      // offset of the bindings (a word each), then the captures
} undead_capture_list;

// What the metadata of a context says that it holds; false if it says nothing, or what cannot be. Asks nobody: for any thread.
bool undead_capture_list_of(uintptr_t isa, undead_capture_list *list);
undead_mangled undead_capture_name(const undead_capture_list *captures, uint32_t index);

// Captures in order; those behind one whose size is unknown have the offset UINT32_MAX. Never NULL.
const undead_fields *undead_captures_of(uintptr_t isa);
// The same without the types of captures that are simple by their names, as undead_fields_lazily.
const undead_fields *undead_captures_lazily(uintptr_t isa);
// The same of a context with these type arguments, as far as they are certainly types.
const undead_fields *undead_captures_with(uintptr_t isa, const uintptr_t *bindings);
// The same for one context (at `address`), whose generic arguments are read from it: all offsets, as a rule.
const undead_fields *undead_captures_in(uintptr_t isa, uintptr_t address);
// What the runtime makes of a generic parameter whose argument is `type`, if asked as for a capture of it.
uintptr_t undead_capture_of_parameter(uintptr_t type);

// How the compiler stores one captured value, as far as its mangled name says: nothing here asks the Swift runtime.

typedef enum {
  UNDEAD_FORM_OTHER = 0,   // a value, or a name that is not understood
  UNDEAD_FORM_BOX,         // of a captured variable
  UNDEAD_FORM_FUNCTION,    // code and context
  UNDEAD_FORM_CODE,        // a function without a context, or a block
  UNDEAD_FORM_REFERENCE,   // to an object, of any ownership; witness tables may follow
} undead_form_kind;

typedef struct {
  undead_form_kind kind;
  bool sized;          // the name says how many bytes the value has
  bool unlike_type;    // values of the type that the runtime makes of the name may have another size
  bool escapes;        // of a function: its context is an object
  bool optional;
  uint32_t size;
} undead_capture_form;

enum { UNDEAD_MOST_PROTOCOLS = 64 };   // of one existential type; of more its size is not known

undead_capture_form undead_capture_form_of(const undead_mangled *name);

// The alignment of a value whose size the name says.
static inline size_t undead_form_align_mask(const undead_capture_form *form) { return form->size ? 7 : 0; }

// The type of what a closure captures of a parameter pack.

// 0 if the name is of something else, or an element's type is not certain. `bindings` are the words at the head of the context.
uintptr_t undead_tuple_of_pack(const undead_capture_list *captures, const undead_mangled *name, const uintptr_t *bindings);
