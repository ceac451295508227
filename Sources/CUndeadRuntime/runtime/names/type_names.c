// What all naming files ask first: the name of a type, and what of a node may be read.
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"
#include "runtime/runtime.h"
#include <string.h>

enum { MAX_TYPE_NAME = 1 << 16 };

bool undead_node_is_frozen(const undead_node *node) {
  return node->state == UNDEAD_STATE_LEAKED || node->state == UNDEAD_STATE_RAW || node->state == UNDEAD_STATE_SUPPORT;
}

void undead_add_type_name(undead_text *text, uintptr_t type) {
  size_t size, stride;
  uint32_t flags;
  if (!undead_runtime.type_name || !undead_type_layout(type, &size, &stride, &flags)) return;
  undead_type_name_pair name = undead_runtime.type_name((const void *)type, true);
  if (!name.text || name.length > MAX_TYPE_NAME) return;
  const char *rest = name.text, *end = name.text + name.length;
  // Private and local types carry the address of their context, which differs from run to run.
  static const char unknown[] = "(unknown context at $";
  for (const char *found; (found = memmem(rest, (size_t)(end - rest), unknown, sizeof unknown - 1));) {
    undead_text_add_bytes(text, rest, (size_t)(found - rest));
    const char *closing = memchr(found, ')', (size_t)(end - found));
    rest = closing ? closing + 1 : end;
    if (rest < end && *rest == '.') rest++;
  }
  undead_text_add_bytes(text, rest, (size_t)(end - rest));
}

uintptr_t undead_error_type(const undead_node *node) {
  uintptr_t type = 0;
  undead_copy_memory(node->address + ABI_ERROR_TYPE, &type, sizeof type);
  return type;
}
