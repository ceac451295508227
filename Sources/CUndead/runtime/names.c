#define _GNU_SOURCE
#include "platform/maps.h"
#include "runtime/abi.h"
#include "runtime/memory_reader.h"
#include "runtime/naming.h"
#include "runtime/runtime.h"
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_TYPE_NAME = 1 << 16 };

bool undead_node_is_frozen(const undead_node *node) {
  return node->state == UNDEAD_STATE_LEAKED || node->state == UNDEAD_STATE_RAW || node->state == UNDEAD_STATE_SUPPORT;
}

bool undead_copy_memory(uintptr_t address, void *copy, size_t size) {
  struct iovec local = {copy, size}, remote = {(void *)address, size};
  int saved = errno;
  bool done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
  errno = saved;
  return done;
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
    text_add_bytes(text, rest, (size_t)(found - rest));
    const char *closing = memchr(found, ')', (size_t)(end - found));
    rest = closing ? closing + 1 : end;
    if (rest < end && *rest == '.') rest++;
  }
  text_add_bytes(text, rest, (size_t)(end - rest));
}

// Facts about an isa, so they outlive the result from which they were learned.
static undead_word_map roles;

static void learn_roles(const undead_scan_result *result) {
  static const undead_scan_result *learned;
  static uint32_t learned_edges;
  if (learned == result && learned_edges == result->edge_count) return;
  learned = result;
  learned_edges = result->edge_count;
  for (uint32_t i = 0; i < result->edge_count; i++) {
    const undead_edge *edge = &result->edges[i];
    const undead_node *from = &result->nodes[edge->from], *to = &result->nodes[edge->to];
    if (to->kind != UNDEAD_KIND_CONTEXT || edge->flags & UNDEAD_EDGE_IMPLIED) continue;
    const undead_field *capture = from->kind == UNDEAD_KIND_CONTEXT
      ? undead_field_at(undead_captures_of(from->isa), edge->offset) : NULL;
    if (capture && capture->indirect) undead_word_map_set(&roles, to->isa, UNDEAD_ROLE_BOX);
    else if (edge->companion && undead_is_executable(edge->companion))
      undead_word_map_set(&roles, to->isa, UNDEAD_ROLE_CLOSURE);
  }
}

undead_context_role undead_role_of_context(const undead_scan_result *result, uintptr_t isa) {
  learn_roles(result);
  uintptr_t role;
  if (undead_word_map_get(&roles, isa, &role)) return (undead_context_role)role;
  uint32_t count = undead_captures_of(isa)->count;
  return count > 1 ? UNDEAD_ROLE_CLOSURE : UNDEAD_ROLE_UNKNOWN;
}

static void add_capture(undead_text *text, const undead_field *capture) {
  static const char *const ownership[] = {"", "weak ", "unowned ", "unowned(unsafe) "};
  text_add(text, ownership[capture->ownership]);
  size_t before = text->length;
  if (capture->indirect) text_add(text, "a variable");
  else undead_add_type_name(text, capture->type);
  if (text->length == before) text_add(text, capture->size == 16 ? "a function" : "a generic value");
}

static void add_context_name(undead_text *text, const undead_scan_result *result, uintptr_t isa) {
  const undead_fields *captures = undead_captures_of(isa);
  if (undead_role_of_context(result, isa) == UNDEAD_ROLE_BOX && captures->count == 1) {
    text_add(text, "box of ");
    add_capture(text, &captures->field[0]);
    return;
  }
  text_add(text, "closure context");
  for (uint32_t i = 0; i < captures->count; i++) {
    text_add(text, i == 0 ? " (captures " : ", ");
    add_capture(text, &captures->field[i]);
  }
  if (captures->count) text_add(text, ")");
}

// The type of the error in a box: part of the object, not of its isa.
static uintptr_t error_type(const undead_node *node) {
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
    add_context_name(text, result, node->isa);
    return;
  case UNDEAD_KIND_GENERIC_BOX:
    text_add(text, "box of ");
    undead_add_type_name(text, read_word(node->isa + ABI_BOX_TYPE));
    return;
  case UNDEAD_KIND_ERROR:
    undead_add_type_name(text, error_type(node));
    if (!text->length) text_add(text, "Error");
    return;
  case UNDEAD_KIND_TASK: text_add(text, "Task"); return;
  case UNDEAD_KIND_JOB: text_add(text, "Job"); return;
  case UNDEAD_KIND_SIDE_TABLE: text_add(text, "weak reference table"); return;
  default:
    if (undead_add_foreign_name(text, node)) return;
    text_add(text, node->state == UNDEAD_STATE_RAW ? "raw memory" : "malloc block");
  }
}

size_t undead_name_node(const undead_scan_result *result, uint32_t node, char *text, size_t size) {
  undead_text name = text_in(text, size);
  undead_runtime_find();
  if (node < result->node_count) add_node_name(&name, result, &result->nodes[node]);
  return name.length;
}

static void name_class_word(const undead_node *node, undead_edge_name *name, undead_text *label,
                            const undead_edge *edge) {
  uintptr_t memory = undead_node_is_frozen(node) ? node->address : 0;
  uintptr_t isa = node->isa;
  for (int depth = 0; isa && depth < 64; depth++, isa = read_word(isa + ABI_CLASS_SUPER)) {
    const undead_field *field = undead_field_at(undead_fields_of(isa), edge->offset);
    if (!field) continue;
    undead_name_in_field(name, label, field, memory, edge->offset, edge);
    return;
  }
  undead_name_in_elements(node, name, label, edge);
}

static void name_captured_word(const undead_scan_result *result, const undead_node *node, undead_edge_name *name,
                               undead_text *label, const undead_edge *edge) {
  const undead_fields *captures = undead_captures_of(node->isa);
  const undead_field *capture = undead_field_at(captures, edge->offset);
  if (!capture) {
    text_add(label, "captured");
    return;
  }
  bool box = captures->count == 1 && undead_role_of_context(result, node->isa) == UNDEAD_ROLE_BOX;
  text_add(label, box ? "value" : capture->indirect ? "captured variable" : "captured");
  if (captures->count > 1) {
    text_add(label, " ");
    text_add_number(label, (uint64_t)(capture - captures->field));
  }
  undead_text type = text_in(name->type, sizeof name->type);
  undead_add_type_name(&type, capture->type);
  // A captured function whose lowered type the runtime does not build: its code stands before its context.
  if (!capture->type && capture->size == 16 && edge->offset == capture->offset + 8
      && undead_is_executable(edge->companion)) name->function = edge->companion;
  undead_name_in_field(name, label, capture, undead_node_is_frozen(node) ? node->address : 0, edge->offset, edge);
}

static void name_boxed_word(const undead_node *node, undead_edge_name *name, undead_text *label,
                            const undead_edge *edge, uintptr_t type, size_t start) {
  text_add(label, "value");
  undead_text text = text_in(name->type, sizeof name->type);
  undead_add_type_name(&text, type);
  if (edge->offset < start) return;
  undead_value value = {type, undead_node_is_frozen(node) ? node->address + start : 0, edge->offset - start};
  undead_name_in_value(name, label, value, edge);
}

static void name_error_word(const undead_node *node, undead_edge_name *name, undead_text *label,
                            const undead_edge *edge) {
  size_t size, stride;
  uint32_t flags = 0;
  uintptr_t type = error_type(node);
  undead_type_layout(type, &size, &stride, &flags);
  size_t mask = flags & ABI_WITNESS_ALIGN_MASK;
  name_boxed_word(node, name, label, edge, type, (ABI_ERROR_VALUE + mask) & ~mask);
}

static void name_task_word(undead_text *label, uint32_t offset) {
  text_add(label, offset == ABI_TASK_RESUME_CONTEXT ? "resume context" : "async frame");
}

void undead_name_edge(const undead_scan_result *result, uint32_t index, undead_edge_name *name) {
  memset(name, 0, sizeof *name);
  if (index >= result->edge_count || !undead_runtime_find()) return;
  const undead_edge *edge = &result->edges[index];
  const undead_node *node = &result->nodes[edge->from];
  undead_text label = text_in(name->label, sizeof name->label);
  if (edge->flags & UNDEAD_EDGE_IMPLIED) {
    text_add(&label, "registered closure");
    return;
  }
  switch (node->kind) {
  case UNDEAD_KIND_CLASS: name_class_word(node, name, &label, edge); break;
  case UNDEAD_KIND_CONTEXT: name_captured_word(result, node, name, &label, edge); break;
  case UNDEAD_KIND_GENERIC_BOX:
    name_boxed_word(node, name, &label, edge, read_word(node->isa + ABI_BOX_TYPE),
                    read_u32(node->isa + ABI_BOX_VALUE_OFFSET));
    break;
  case UNDEAD_KIND_ERROR: name_error_word(node, name, &label, edge); break;
  case UNDEAD_KIND_TASK: name_task_word(&label, edge->offset); break;
  default: break;
  }
  if (label.length) return;
  if (node->kind == UNDEAD_KIND_OTHER && node->isa && node->isa == undead_runtime.slab_isa) text_add(&label, "async frame");
  else if (!undead_name_foreign_edge(node, &label, edge->offset)) {
    text_add(&label, "+");
    text_add_number(&label, edge->offset);
  }
}
