// What the type of an object says of its words (undead_evidence in runtime/layout.h). Asks the Swift runtime.
#pragma once
#include "runtime/layout.h"
#include "runtime/types.h"

#define UNDEAD_EVIDENCE_BYTES 16384u   // described of an object at most; what lies behind is raw
#define UNDEAD_MOST_GUARDS 256u
#define UNDEAD_MOST_BUFFERS 256u

// What is known while a type is being looked at: of single bytes, so that fields smaller than a word, and payloads of
// enums that overlap, can be laid over one another.
typedef struct {
  uint8_t byte[UNDEAD_EVIDENCE_BYTES];
  undead_guard guards[UNDEAD_MOST_GUARDS];
  uint32_t guard_count;
  uint32_t buffers[UNDEAD_MOST_BUFFERS];   // offsets of the buffers of opaque existentials
  uint32_t buffer_count;
  size_t end;              // of what is described
  size_t written;          // bytes behind this are as they were cleared
} undead_evidence_map;

void undead_evidence_clear(undead_evidence_map *map);
// All bytes are padding unless a field says otherwise: for values whose fields are all known.
void undead_evidence_pad(undead_evidence_map *map, size_t base, size_t size);
void undead_evidence_of_type(undead_evidence_map *map, uintptr_t type, size_t base);
// The fields of an instance of a class, inherited ones included.
void undead_evidence_of_class(undead_evidence_map *map, uintptr_t isa);
// The captures of a closure context or a local box.
void undead_evidence_of_context(undead_evidence_map *map, uintptr_t isa);
// The same with the type arguments of one.
void undead_evidence_of_context_with(undead_evidence_map *map, uintptr_t isa, const uintptr_t *bindings);

// The evidence of the word at `offset`.
undead_evidence undead_evidence_word(const undead_evidence_map *map, size_t offset);

// Fills in what is known of a collection's storage; `map` is lent.
void undead_storage_layout_learn(undead_layout *layout, undead_evidence_map *map);
void undead_ring_layout_learn(undead_layout *layout, undead_evidence_map *map);
// The same for the tails of other heirs of ManagedBuffer.
void undead_tail_layout_learn(undead_layout *layout, undead_evidence_map *map);
// What the names of a class's fields tell (named_fields.c).
void undead_named_fields_learn(undead_layout *layout);
// Whether a variable of that name has the number of an open file, if it is a number at all; `is_int`: one that C calls an int.
bool undead_names_descriptor(const char *name, size_t length, bool is_int);
