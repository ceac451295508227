#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// The premise about tables of methods (Metadata.h: TargetVTableDescriptorHeader and what stands before it): each slot of a class of
// the standard library holds the function that the descriptor of its method names.
#include "zombies/premises.h"
#include "platform/maps.h"
#include "platform/words.h"
#include "runtime/abi.h"
#include "runtime/runtime.h"
#include "zombies/metadata.h"
#include <string.h>

#define ZOMBIES(holds, what) undead_premise(premises, UNDEAD_PREMISE_ZOMBIES, holds, what)

enum { INITIALIZER = 1 };   // MethodDescriptorFlags::Kind

typedef __attribute__((swiftcall)) uintptr_t (*accessor)(uintptr_t request, uintptr_t type, uintptr_t other);

static uintptr_t symbol(const char *name) {
  return undead_symbol_address(undead_module_of((uintptr_t)undead_runtime.type_by_mangled_name), name, NULL);
}

static uintptr_t relative_at(uintptr_t address) { return address + (uintptr_t)(intptr_t)*(const int32_t *)address; }

static bool has_its_methods(uintptr_t isa) {
  undead_vtable table = undead_metadata_vtable(isa);
  if (!table.count || table.first * 8ul < ABI_CLASS_HEADER_BYTES) return false;
  if ((table.first + table.count) * 8ul + 24 > u32_at(isa + ABI_CLASS_SIZE)) return false;
  for (uint32_t i = 0; i < table.count; i++) {
    uintptr_t method = (uintptr_t)table.methods + i * (uintptr_t)ABI_METHOD_BYTES;
    if ((u32_at(method) & ABI_METHOD_KIND_MASK) == INITIALIZER) continue;   // one that nobody calls was deleted
    if (word_at(isa + (table.first + i) * 8ul) != relative_at(method + 4)) return false;
  }
  return true;
}

void undead_premises_of_zombies(undead_premises *premises) {
  uintptr_t plain = symbol("$ss10AnyKeyPathCN"), generic = symbol("$ss15_AnySequenceBoxCMa"), number = symbol("$sSiN");
  if (!plain || !generic || !number) return;   // linked into the program, in part
  ZOMBIES(undead_metadata_is_class(plain), "what makes a class for zombies");
  ZOMBIES(has_its_methods(plain), "the methods of a class");
  undead_vtable table = undead_metadata_vtable(plain);
  ZOMBIES((uintptr_t)table.methods == symbol("$ss10AnyKeyPathC04_kvcbC6StringSSSgvgTq")
            && (u32_at((uintptr_t)table.methods) & ABI_METHOD_KIND_MASK) == 2, "the kind of a method");
  ZOMBIES(has_its_methods(((accessor)generic)(0, number, 0)), "the methods of a generic class");
  const char *module, *name;
  undead_metadata_names(plain, &module, &name);
  ZOMBIES(!strcmp(module, "Swift") && !strcmp(name, "AnyKeyPath"), "the name of a class for zombies");
}
#endif
