// What the naming files share.
#pragma once
#include "runtime/captures/captures.h"
#include "runtime/layout.h"
#include "platform/system/text.h"
#include "runtime/types.h"

// The module-qualified name of a type, as Swift prints it, but the same in every run. Nothing if it has none.
void undead_add_type_name(undead_text *text, uintptr_t type);

// True if nobody can change the memory of the node: it may be read and its enum tags asked for.
bool undead_node_is_frozen(const undead_node *node);

typedef enum { UNDEAD_ROLE_UNKNOWN, UNDEAD_ROLE_BOX, UNDEAD_ROLE_CLOSURE } undead_context_role;
// The type of the error in a box, 0 if it cannot be read: part of the object, not of its isa.
uintptr_t undead_error_type(const undead_node *node);

// Whether contexts with this isa hold a variable or the captures of a closure, as far as the edges tell.
undead_context_role undead_role_of_context(const undead_scan_result *result, uintptr_t isa);

// A value on the way from an object to one of its words.
typedef struct {
  uintptr_t type;       // its metadata
  uintptr_t memory;     // its address, 0 if it must not be read
  size_t offset;        // of the word in it
} undead_value;
// Follows a value down to the word: appends to the label, sets type, ownership and function. True if the word leads to
// a box that holds the rest of the value (an existential that does not fit, an indirect case).
bool undead_name_in_value(undead_edge_name *name, undead_text *label, undead_value value, const undead_edge *edge);
// The same, from a field of the value or object at `memory`.
bool undead_name_in_field(undead_edge_name *name, undead_text *label, const undead_field *field, uintptr_t memory,
                          size_t offset, const undead_edge *edge);

// Elements that stand behind the stored properties of arrays, dictionaries, sets and managed buffers. As above.
bool undead_name_in_elements(const undead_node *node, undead_edge_name *name, undead_text *label,
                             const undead_edge *edge);
// Whatever was read of collections is read anew.
void undead_forget_elements(void);

// Names of objects that are not Swift's: Core Foundation, libdispatch, blocks. False if it is none of these.
bool undead_add_foreign_name(undead_text *text, const undead_node *node);
// True for a block of C on the heap. What it captures follows a header of ABI_BLOCK_HEADER bytes.
bool undead_is_block(const undead_node *node);
// Known words of such an object; false if this is none.
bool undead_name_foreign_edge(const undead_node *node, undead_text *label, uint32_t offset);
