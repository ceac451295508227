// Checks what abi.h says against the runtime of this process. Each premise is a comparison of what the instrument reads, by its own
// numbers, with what the runtime says by other means: an exported symbol, the result of one of its functions, a known value.
// Called once, from the check's thread, by scan/premises/premises.c.
#include "runtime/premises/premises_internal.h"
#include "platform/memory/own_data.h"

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
