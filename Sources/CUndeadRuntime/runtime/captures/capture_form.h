// How the compiler stores one captured value, as far as its mangled name says: nothing here asks the Swift runtime.
#pragma once
#include "runtime/descriptors.h"

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
