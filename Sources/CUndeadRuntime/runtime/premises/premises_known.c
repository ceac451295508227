// What premises are checked by: symbols and types of the runtime that this process uses.
#include "runtime/premises/premises_internal.h"
#include "runtime/runtime.h"
#include <string.h>

static const undead_module *runtime_module(void) { return undead_module_of((uintptr_t)undead_runtime.type_by_mangled_name); }

uintptr_t undead_premise_symbol(const char *name) { return undead_symbol_address(runtime_module(), name, NULL); }

uintptr_t undead_premise_symbol_of(const char *library, const char *name) {
  const undead_module *module = undead_runtime_library(library);
  // A program that only uses the runtime has neither the library nor its functions, whatever it calls its own.
  bool is_program = module == undead_module_at(0);
  return is_program && module != runtime_module() ? 0 : undead_symbol_address(module, name, NULL);
}

bool undead_premise_found(undead_premises *premises, bool found, const char *what) {
  bool is_linked_in = runtime_module() == undead_module_at(0);
  if (!found && is_linked_in) premises->absent++;
  else undead_premise(premises, UNDEAD_PREMISE_LEAKS, found, what);
  return found;
}

uintptr_t undead_premise_type(const char *mangled) {
  return (uintptr_t)undead_runtime.type_by_mangled_name(mangled, strlen(mangled), NULL, NULL);
}
