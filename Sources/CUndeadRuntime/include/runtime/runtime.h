// The Swift runtime of this process: the functions that are asked, and the memory of what was learned from it.
#pragma once
#include "platform/maps/maps.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char *text;
  uintptr_t length;
} undead_type_name_pair;

typedef struct {
  // These use the Swift calling convention, which for these signatures is that of C on x86-64.
  const void *(*type_by_mangled_name)(const char *name, size_t length, const void *context,
                                      const void *const *arguments);
  // NULL in runtimes that do not have it.
  const void *(*type_in_environment)(const char *name, size_t length, const void *environment,
                                     const void *const *arguments);
  // NULL in runtimes that do not have it. What it returns has a second word, of no interest here.
  const void *(*tuple_type)(size_t request, size_t count, const void *const *elements, const char *labels, const void *witnesses);
  undead_type_name_pair (*type_name)(const void *type, bool qualified);
  uintptr_t slab_isa;      // first word of a task's memory slab, 0 if unknown
  uintptr_t uint64_type;   // metadata of Swift.UInt64
  // CFRuntimeClass of Core Foundation in Foundation; NULL if the program has no Foundation.
  const void *(*cf_class)(uintptr_t type_id);
} undead_runtime_functions;

extern undead_runtime_functions undead_runtime;

// The library of the toolchain whose file name begins so; the program, which it then is a part of, if there is none.
const undead_module *undead_runtime_library(const char *library);
// Address of a symbol of the Swift runtime or of libdispatch, exported or not, 0 if there is none.
uintptr_t undead_runtime_symbol(const char *library, const char *name);

// Memory that lives as long as the process: what is learned about types is never forgotten. Zeroed, 8-aligned.
void *undead_keep(size_t bytes);

// A map from a word that is not 0 to a word. Readers need no lock; there is one writer.
typedef struct {
  struct undead_word_map_slots *slots;
} undead_word_map;
bool undead_word_map_get(const undead_word_map *map, uintptr_t key, uintptr_t *value);
bool undead_word_map_set(undead_word_map *map, uintptr_t key, uintptr_t value);
