// The premise about closures (RemoteInspection/Records.h: CaptureDescriptor): the runtime makes none that could be asked for, so the
// program's own are looked at. What a wrong number would read there are no types.
#include "runtime/premises/premises_internal.h"

enum { MOST_FIRST = 4096, MOST_CAPTURES = 4096, MOST_BINDINGS = 64 };

// A mangled name is elsewhere in the image, not in the record that refers to it; it may be next to it.
static bool is_name(uintptr_t name, uintptr_t captures, uintptr_t end) {
  if (name >= captures && name < end) return false;
  return undead_is_readable(name, 1) && *(const uint8_t *)name && undead_module_of(name) == undead_module_of(captures);
}

bool undead_premise_of_context(uintptr_t isa) {
  uint32_t first = u32_at(isa + ABI_CONTEXT_FIRST_CAPTURE);
  uintptr_t captures = word_at(isa + ABI_CONTEXT_CAPTURES);
  // 0: what lies before depends on a type parameter (GenHeap.cpp).
  if ((first && first < ABI_OBJECT_HEADER) || first > MOST_FIRST) return false;
  if (!captures) return true;   // boxes without reflection metadata
  if (captures & 3 || !undead_module_of(captures)) return false;
  uint32_t types = u32_at(captures + ABI_CAPTURES_TYPE_COUNT), sources = u32_at(captures + ABI_CAPTURES_SOURCE_COUNT);
  uint32_t bindings = u32_at(captures + ABI_CAPTURES_BINDING_COUNT);
  if (types > MOST_CAPTURES || sources > MOST_BINDINGS || bindings > MOST_BINDINGS || !(types | bindings)) return false;
  uintptr_t end = captures + ABI_CAPTURES_TYPES + types * 4ul + sources * 8ul;
  if (!undead_is_readable(captures, end - captures)) return false;
  for (uint32_t i = 0; i < types; i++)
    if (!is_name(read_relative(captures + ABI_CAPTURES_TYPES + i * 4ul), captures, end)) return false;
  // Of each source the name of the parameter, and where its type is found.
  for (uint32_t i = 0; i < sources * 2; i++)
    if (!is_name(read_relative(captures + ABI_CAPTURES_TYPES + types * 4ul + i * 4ul), captures, end)) return false;
  return true;
}
