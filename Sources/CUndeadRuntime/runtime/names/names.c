// The name of a node: its type, and for closures what they capture. Called by the snapshot's writer when the world runs again.
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"

// What is known of a type whose generic arguments are not.
static void add_open_type_name(undead_text *text, const undead_mangled *name) {
  uintptr_t descriptor = undead_mangled_descriptor(name);
  const char *module = undead_descriptor_module(descriptor);
  if (!descriptor || !module[0]) return;
  undead_text_join(text, module, ".", undead_descriptor_name(descriptor));
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
