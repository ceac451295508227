#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// What premises are checked by: symbols and types of the runtime that this process uses.
#include "runtime/premises/premises_internal.h"
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
#endif
