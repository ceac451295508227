#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"
#include "runtime/runtime.h"

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

// What is known of a type whose generic arguments are not.
static void add_open_type_name(undead_text *text, const undead_mangled *name) {
  uintptr_t descriptor = undead_mangled_descriptor(name);
  const char *module = undead_descriptor_module(descriptor);
  if (!descriptor || !module[0]) return;
  undead_text_add(text, module);
  undead_text_add(text, ".");
  undead_text_add(text, undead_descriptor_name(descriptor));
}

static void add_capture(undead_text *text, const undead_field *capture) {
  static const char *const ownership[] = {"", "weak ", "unowned ", "unowned(unsafe) "};
  undead_text_add(text, ownership[capture->ownership]);
  size_t before = text->length;
  if (capture->indirect) undead_text_add(text, "a variable");
  else undead_add_type_name(text, capture->type);
  if (text->length == before) add_open_type_name(text, &capture->mangled);
  if (text->length == before) undead_text_add(text, capture->size == 16 ? "a function" : "a generic value");
}

static void add_context_name(undead_text *text, const undead_scan_result *result, const undead_node *node) {
  undead_context_role role = undead_role_of_context(result, node->isa);
  const undead_fields *captures = undead_captures_in(node->isa, node->address);
  if (role == UNDEAD_ROLE_BOX && captures->count == 1) {
    undead_text_add(text, "box of ");
    add_capture(text, &captures->field[0]);
    return;
  }
  undead_text_add(text, "closure context");
  for (uint32_t i = 0; i < captures->count; i++) {
    undead_text_add(text, i == 0 ? " (captures " : ", ");
    add_capture(text, &captures->field[i]);
  }
  if (captures->count) undead_text_add(text, ")");
}

uintptr_t undead_error_type(const undead_node *node) {
  uintptr_t type = 0;
  undead_copy_memory(node->address + ABI_ERROR_TYPE, &type, sizeof type);
  return type;
}

static void add_node_name(undead_text *text, const undead_scan_result *result, const undead_node *node) {
  switch (node->kind) {
  case UNDEAD_KIND_CLASS:
    if (!undead_add_foreign_name(text, node)) undead_add_type_name(text, node->isa);
    return;
  case UNDEAD_KIND_CONTEXT:
    add_context_name(text, result, node);
    return;
  case UNDEAD_KIND_GENERIC_BOX:
    undead_text_add(text, "box of ");
    undead_add_type_name(text, read_word(node->isa + ABI_BOX_TYPE));
    return;
  case UNDEAD_KIND_ERROR:
    undead_add_type_name(text, undead_error_type(node));
    if (!text->length) undead_text_add(text, "Error");
    return;
  case UNDEAD_KIND_TASK: undead_text_add(text, "Task"); return;
  case UNDEAD_KIND_JOB: undead_text_add(text, "Job"); return;
  case UNDEAD_KIND_SIDE_TABLE: undead_text_add(text, "weak reference table"); return;
  default:
    if (undead_add_foreign_name(text, node)) return;
    undead_text_add(text, node->state == UNDEAD_STATE_RAW ? "raw memory" : "malloc block");
  }
}

size_t undead_name_node(const undead_scan_result *result, uint32_t node, char *text, size_t size) {
  undead_text name = undead_text_in(text, size);
  undead_runtime_find();
  if (node < result->node_count) add_node_name(&name, result, &result->nodes[node]);
  return name.length;
}
#endif
