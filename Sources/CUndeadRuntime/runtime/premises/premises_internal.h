// What the files with premises about the runtime share.
#pragma once
#include "platform/processor/processor.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/premises.h"

#pragma GCC visibility push(hidden)

#define SWIFT_CALL __attribute__((swiftcall))

typedef struct { uintptr_t first, second; } undead_pair;   // what Swift functions return in two registers

// Whether there is what a premise is checked by. A runtime that is a library of its own has all of it. Of one that was linked into
// the program some may be left out: then there is nothing to check against, and `absent` counts it.
bool undead_premise_found(undead_premises *premises, bool found, const char *what);

// A symbol of the runtime that this process uses, or of another library of the toolchain; never one of the instrument's own.
uintptr_t undead_premise_symbol(const char *name);
uintptr_t undead_premise_symbol_of(const char *library, const char *name);
// A type by its mangled name, 0 if the runtime does not make it.
uintptr_t undead_premise_type(const char *mangled);

void undead_premises_of_classes(undead_premises *premises, uintptr_t isa);
void undead_premises_of_types(undead_premises *premises);
void undead_premises_of_names(undead_premises *premises);
void undead_premises_of_foundation(undead_premises *premises);
void undead_premises_of_descriptors(undead_premises *premises);
void undead_premises_of_witnesses(undead_premises *premises);
void undead_premises_of_counts(undead_premises *premises, uintptr_t isa);
void undead_premises_of_boxes(undead_premises *premises);
void undead_premises_of_collections(undead_premises *premises);
void undead_premises_of_tasks(undead_premises *premises);

#pragma GCC visibility pop
