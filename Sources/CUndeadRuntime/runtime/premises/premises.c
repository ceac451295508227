#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Checks what abi.h says against the runtime of this process. Each premise is a comparison of what the instrument reads, by its own
// numbers, with what the runtime says by other means: an exported symbol, the result of one of its functions, a known value.
// Called once, from the check's thread, by scan/premises/premises.c.
#include "runtime/premises/premises_internal.h"
#include "platform/memory/own_data.h"
#include "runtime/runtime.h"
#include <string.h>

uintptr_t undead_premise_symbol(const char *name) {
  return undead_symbol_address(undead_module_of((uintptr_t)undead_runtime.type_by_mangled_name), name, NULL);
}

uintptr_t undead_premise_symbol_of(const char *library, const char *name) {
  for (size_t i = 0; i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    const char *slash = strrchr(module->path, '/');
    if (!strncmp(slash ? slash + 1 : module->path, library, strlen(library)))
      return undead_symbol_address(module, name, NULL);
  }
  // Linked statically, it lies beside the runtime.
  return undead_premise_symbol(name);
}

bool undead_premise_found(undead_premises *premises, bool found, const char *what) {
  bool is_linked_in = undead_module_of((uintptr_t)undead_runtime.type_by_mangled_name) == undead_module_at(0);
  if (!found && is_linked_in) premises->absent++;
  else undead_premise(premises, UNDEAD_PREMISE_LEAKS, found, what);
  return found;
}

uintptr_t undead_premise_type(const char *mangled) {
  return (uintptr_t)undead_runtime.type_by_mangled_name(mangled, strlen(mangled), NULL, NULL);
}

uint32_t undead_runtime_version(void) {
  uintptr_t current = undead_premise_symbol("$sSo19_SwiftStdlibVersionasE7currentABvgZ");
  return current ? ((SWIFT_CALL uint32_t (*)(void))current)() : 0;
}

void undead_premises_of_runtime(undead_premises *premises, bool may_allocate) {
  uintptr_t empty = undead_premise_symbol("_swiftEmptyArrayStorage");
  undead_premise(premises, UNDEAD_PREMISE_LEAKS, empty != 0, "the storage of empty arrays");
  if (!empty) return;
  undead_premises_of_classes(premises, word_at(empty));
  if (premises->failed[UNDEAD_PREMISE_LEAKS]) return;
  undead_premises_of_descriptors(premises);
  undead_premises_of_witnesses(premises);
  if (!may_allocate) return;
  undead_premises_of_types(premises);
  undead_premises_of_names(premises);
  undead_premises_of_counts(premises, word_at(empty));
  undead_premises_of_boxes(premises);
  undead_premises_of_collections(premises);
  undead_premises_of_tasks(premises);
  undead_premises_of_foundation(premises);
}
#endif
