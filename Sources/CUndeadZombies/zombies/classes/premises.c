// The premise about tables of methods (Metadata.h: TargetVTableDescriptorHeader and what stands before it): each slot of a class of
// the standard library holds the function that the descriptor of its method names.
#include "zombies/premises.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "zombies/classes/metadata.h"
#include <dlfcn.h>
#include <string.h>

#define ZOMBIES(holds, what) undead_premise(premises, UNDEAD_PREMISE_ZOMBIES, holds, what)

typedef __attribute__((swiftcall)) uintptr_t (*accessor)(uintptr_t request, uintptr_t type, uintptr_t other);

static uintptr_t symbol(const char *name) { return (uintptr_t)undead_symbol(RTLD_DEFAULT, name); }

static uintptr_t relative_address(uintptr_t address) { return address + (uintptr_t)(intptr_t)*(const int32_t *)address; }

static bool has_its_methods(uintptr_t isa) {
  undead_vtable table = undead_metadata_vtable(isa);
  if (!table.count || table.first * 8ul < ABI_CLASS_HEADER_BYTES) return false;
  if ((table.first + table.count) * 8ul + 24 > u32_at(isa + ABI_CLASS_SIZE)) return false;
  for (uint32_t i = 0; i < table.count; i++) {
    uintptr_t method = (uintptr_t)table.methods + i * (uintptr_t)ABI_METHOD_BYTES;
    if ((u32_at(method) & ABI_METHOD_KIND_MASK) == ABI_METHOD_KIND_INITIALIZER) continue;   // one that nobody calls was deleted
    if (word_at(isa + (table.first + i) * 8ul) != relative_address(method + ABI_METHOD_FUNCTION)) return false;
  }
  return true;
}

static undead_premises at_start;

// What is written into copies of classes, and read while others run: nothing is asked of the runtime, which may not have begun.
static void check_classes(undead_premises *premises) {
  uintptr_t plain = symbol("$ss10AnyKeyPathCN"), empty = symbol("_swiftEmptyArrayStorage");
  if (!plain || !empty) return;   // linked into the program, in part
  uintptr_t isa = word_at(empty);
  ZOMBIES(undead_metadata_is_class(plain) && undead_metadata_is_class(isa), "what makes a class for zombies");
  ZOMBIES(word_at(isa + ABI_CLASS_SUPER) == symbol("$ss28__ContiguousArrayStorageBaseCN"), "the superclass of a class for zombies");
  ZOMBIES(word_at(isa + ABI_METADATA_DESTROY) == symbol("$ss19__EmptyArrayStorageCfD"), "the deallocating function for zombies");
  ZOMBIES(has_its_methods(plain), "the methods of a class");
  undead_vtable table = undead_metadata_vtable(plain);
  ZOMBIES((uintptr_t)table.methods == symbol("$ss10AnyKeyPathC04_kvcbC6StringSSSgvgTq") && table.methods
            && (u32_at((uintptr_t)table.methods) & ABI_METHOD_KIND_MASK) == ABI_METHOD_KIND_GETTER, "the kind of a method");
  const char *module, *name;
  undead_metadata_names(plain, &module, &name);
  ZOMBIES(!strcmp(module, "Swift") && !strcmp(name, "AnyKeyPath"), "the name of a class for zombies");
}

bool undead_premises_let_zombies_start(void) {
  if (!at_start.checked) check_classes(&at_start);
  return !at_start.failed[UNDEAD_PREMISE_ZOMBIES];
}

bool undead_premises_of_zombies(undead_premises *premises) {
  if (!at_start.checked) return false;
  *premises = at_start;
  if (premises->failed[UNDEAD_PREMISE_ZOMBIES]) return true;
  uintptr_t generic = symbol("$ss15_AnySequenceBoxCMa"), number = symbol("$sSiN");
  if (generic && number) ZOMBIES(has_its_methods(((accessor)generic)(0, number, 0)), "the methods of a generic class");
  return true;
}

bool undead_premises_of_dead_classes(undead_premises *premises) {
  if (!undead_metadata_misread()) return false;
  ZOMBIES(false, "the methods of classes of this program");
  return true;
}
