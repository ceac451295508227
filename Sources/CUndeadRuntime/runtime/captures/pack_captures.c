// What a closure captures of a parameter pack as a whole is a tuple of the elements, "xxQp_t" for the first parameter. The runtime makes no
// type of that name outside of a generic type. The words at the head of the context say how many types the pack has, and where they are:
//
//     sources: ("xxQp_QP", "sB0"): the count in word 0;  ("xxQp_QP", "B1"): the list in word 1, whose lowest bit says in which memory
#include "runtime/captures/captures.h"
#include "platform/memory/own_data.h"
#include "platform/system/read_text.h"
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/runtime.h"
#include "platform/system/text.h"

enum { MOST_ELEMENTS = 16, MOST_NAME = 24 };

// Its number, UINT32_MAX if there is none. `kind` is "sB" for the count, "B" for the list.
static uint32_t binding_of_pack(const undead_capture_list *captures, const char *pack, const char *kind) {
  for (uint32_t i = 0; i < captures->sources; i++) {
    uintptr_t pair = captures->address + ABI_CAPTURES_TYPES + captures->types * 4ul + i * 8ul;
    const char *parameter = read_text(read_relative(pair), MOST_NAME), *source = read_text(read_relative(pair + 4), MOST_NAME);
    if (!parameter || !source || strcmp(parameter, pack) || !undead_starts_with(source, kind)) continue;
    uint64_t binding = undead_read_number(source + strlen(kind), 10, NULL);
    return binding < captures->bindings ? (uint32_t)binding : UINT32_MAX;
  }
  return UINT32_MAX;
}

// "xxQp_t" gives "xxQp_QP". Nothing but a parameter may be repeated: of what is made of it the list has not the type.
static bool name_of_pack(const undead_mangled *name, char *pack) {
  static const char tuple[] = "Qp_t";
  const char *text = (const char *)name->address;
  if (name->length <= sizeof tuple || name->length + 2 > MOST_NAME) return false;
  size_t both = name->length - (sizeof tuple - 1), half = both / 2;
  bool parameter = half == 1 ? text[0] == 'x' : text[0] == 'q' && strspn(text, "qd0123456789") == half - 1 && text[half - 1] == '_';
  if (both % 2 || !parameter || memcmp(text, text + half, half) || memcmp(text + both, tuple, sizeof tuple - 1)) return false;
  memcpy(pack, text, name->length - 1);
  memcpy(pack + name->length - 1, "QP", sizeof "QP");
  return true;
}

uintptr_t undead_tuple_of_pack(const undead_capture_list *captures, const undead_mangled *name, const uintptr_t *bindings) {
  char pack[MOST_NAME];
  if (!undead_runtime.tuple_type || !name_of_pack(name, pack)) return 0;
  uint32_t count = binding_of_pack(captures, pack, "sB"), list = binding_of_pack(captures, pack, "B");
  if (count == UINT32_MAX || list == UINT32_MAX || bindings[count] == 0 || bindings[count] > MOST_ELEMENTS) return 0;
  uintptr_t types[MOST_ELEMENTS], address = bindings[list] & ~(uintptr_t)1;
  if (!address || !read_bytes(address, types, bindings[count] * sizeof types[0])) return 0;
  for (uintptr_t i = 0; i < bindings[count]; i++)
    if (!undead_is_certainly_type(types[i])) return 0;
  if (bindings[count] == 1) return types[0];
  return (uintptr_t)undead_runtime.tuple_type(0, bindings[count], (const void *const *)types, NULL, NULL);
}
