// The name of a reference from one node to another, by the kind of the node: field of a class, capture of a closure, element,
// part of a task. Called by the snapshot's writer when the world runs again.
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "runtime/abi.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"
#include "runtime/runtime.h"

static bool name_class_word(const undead_node *node, undead_edge_name *name, undead_text *label,
                            const undead_edge *edge) {
  uintptr_t memory = undead_node_is_frozen(node) ? node->address : 0;
  uintptr_t isa = node->isa;
  for (int depth = 0; isa && depth < 64; depth++, isa = read_word(isa + ABI_CLASS_SUPER)) {
    const undead_field *field = undead_field_at(undead_fields_of(isa), edge->offset);
    if (!field) continue;
    return undead_name_in_field(name, label, field, memory, edge->offset, edge);
  }
  return undead_name_in_elements(node, name, label, edge);
}

// The block may be longer than the context: what follows the last capture is left from before.
static bool is_behind_captures(const undead_fields *captures, uint32_t offset) {
  if (!captures->count || captures->field[captures->count - 1].offset == UINT32_MAX) return false;
  const undead_field *last = &captures->field[captures->count - 1];
  return offset >= last->offset + last->size;
}

static bool name_captured_word(const undead_scan_result *result, const undead_node *node, undead_edge_name *name,
                               undead_text *label, const undead_edge *edge) {
  undead_context_role role = undead_role_of_context(result, node->isa);
  const undead_fields *captures = undead_captures_in(node->isa, node->address);
  const undead_field *capture = undead_field_at(captures, edge->offset);
  if (!capture) {
    if (is_behind_captures(captures, edge->offset)) name->flags |= UNDEAD_EDGE_WEAK;
    else undead_text_add(label, "captured");
    return false;
  }
  bool box = captures->count == 1 && role == UNDEAD_ROLE_BOX;
  undead_text_add(label, box ? "value" : capture->indirect ? "captured variable" : "captured");
  if (captures->count > 1) {
    undead_text_add(label, " ");
    undead_text_number(label, (uint64_t)(capture - captures->field));
  }
  undead_text type = undead_text_in(name->type, sizeof name->type);
  undead_add_type_name(&type, capture->type);
  // A captured function whose lowered type the runtime does not build: its code stands before its context.
  if (!capture->type && capture->size == 16 && edge->offset == capture->offset + 8
      && undead_is_executable(edge->companion)) name->function = edge->companion;
  uintptr_t memory = undead_node_is_frozen(node) ? node->address : 0;
  // The box of a captured variable, or the box of a value that does not fit: both are boxes.
  return undead_name_in_field(name, label, capture, memory, edge->offset, edge) || capture->indirect;
}

static bool name_boxed_word(const undead_node *node, undead_edge_name *name, undead_text *label,
                            const undead_edge *edge, uintptr_t type, size_t start) {
  undead_text_add(label, "value");
  undead_text text = undead_text_in(name->type, sizeof name->type);
  undead_add_type_name(&text, type);
  if (edge->offset < start) return false;
  undead_value value = {type, undead_node_is_frozen(node) ? node->address + start : 0, edge->offset - start};
  return undead_name_in_value(name, label, value, edge);
}

static bool name_error_word(const undead_node *node, undead_edge_name *name, undead_text *label,
                            const undead_edge *edge) {
  size_t size, stride;
  uint32_t flags = 0;
  uintptr_t type = undead_error_type(node);
  undead_type_layout(type, &size, &stride, &flags);
  size_t mask = flags & ABI_WITNESS_ALIGN_MASK;
  return name_boxed_word(node, name, label, edge, type, (ABI_ERROR_VALUE + mask) & ~mask);
}

static void name_task_word(const undead_scan_result *result, const undead_edge *edge, undead_edge_name *name,
                           undead_text *label) {
  undead_kind target = (undead_kind)result->nodes[edge->to].kind;
  // Task.cpp, AsyncContextPrefix: the entry point of the task's closure stands before its context.
  bool operation = target != UNDEAD_KIND_OTHER && edge->companion && undead_is_executable(edge->companion);
  if (operation) name->function = edge->companion;
  undead_text_add(label, operation ? "operation" : edge->offset == ABI_TASK_RESUME_CONTEXT ? "resume context" : "async frame");
}

static bool name_word(const undead_scan_result *result, const undead_edge *edge, undead_edge_name *name,
                      undead_text *label) {
  const undead_node *node = &result->nodes[edge->from];
  switch (node->kind) {
  case UNDEAD_KIND_CLASS: return name_class_word(node, name, label, edge);
  case UNDEAD_KIND_CONTEXT: return name_captured_word(result, node, name, label, edge);
  case UNDEAD_KIND_GENERIC_BOX:
    return name_boxed_word(node, name, label, edge, read_word(node->isa + ABI_BOX_TYPE),
                           read_u32(node->isa + ABI_BOX_VALUE_OFFSET));
  case UNDEAD_KIND_ERROR: return name_error_word(node, name, label, edge);
  case UNDEAD_KIND_TASK:
    name_task_word(result, edge, name, label);
    return false;
  default:
    if (node->isa && node->isa == undead_runtime.slab_isa) undead_text_add(label, "async frame");
    // A Swift function that was made a block: its code, then its context.
    else if (edge->offset == ABI_BLOCK_HEADER + 8 && undead_is_executable(edge->companion) && undead_is_block(node))
      name->function = edge->companion;
    return false;
  }
}

// True if the edge leads to a box.
static bool name_edge(const undead_scan_result *result, const undead_edge *edge, undead_edge_name *name) {
  memset(name, 0, sizeof *name);
  undead_text label = undead_text_in(name->label, sizeof name->label);
  if (edge->flags & UNDEAD_EDGE_IMPLIED) {
    undead_text_add(&label, "registered closure");
    return false;
  }
  bool boxed = name_word(result, edge, name, &label);
  if (label.length || undead_name_foreign_edge(&result->nodes[edge->from], &label, edge->offset)) return boxed;
  undead_text_add(&label, "+");
  undead_text_number(&label, edge->offset);
  return boxed;
}

// What is kept of memory between two names holds for one result only; without a time, results cannot be distinguished.
static void begin_result(const undead_scan_result *result) {
  static const undead_scan_result *begun;
  static uint64_t begun_time;
  if (begun == result && begun_time == result->scan_nanoseconds && begun_time) return;
  begun = result;
  begun_time = result->scan_nanoseconds;
  undead_forget_elements();
}

void undead_name_edge(const undead_scan_result *result, uint32_t index, undead_edge_name *name) {
  memset(name, 0, sizeof *name);
  begin_result(result);
  if (index < result->edge_count && undead_runtime_find()) name_edge(result, &result->edges[index], name);
}

// Facts about an isa, so they outlive the result from which they were learned.
static undead_word_map roles;
static bool learning;

static void learn_roles(const undead_scan_result *result) {
  // Another result may come to lie at the same place.
  static const undead_scan_result *learned;
  static uint64_t learned_time;
  if (learned == result && learned_time == result->scan_nanoseconds && learned_time) return;
  if (learning) return;
  learning = true;
  learned = result;
  learned_time = result->scan_nanoseconds;
  for (uint32_t i = 0; i < result->edge_count; i++) {
    static undead_edge_name name;
    const undead_edge *edge = &result->edges[i];
    const undead_node *to = &result->nodes[edge->to];
    uintptr_t known;
    if (to->kind != UNDEAD_KIND_CONTEXT) continue;
    if (!undead_word_map_get(&roles, to->isa, &known)) known = UNDEAD_ROLE_UNKNOWN;
    if (known == UNDEAD_ROLE_BOX) continue;
    // A closure that captures one variable has its box for a context. That it is a box counts, in whatever order the
    // edges come: the name must be the same in every run.
    if (name_edge(result, edge, &name)) undead_word_map_set(&roles, to->isa, UNDEAD_ROLE_BOX);
    else if (known == UNDEAD_ROLE_CLOSURE) continue;
    else if (name.function || (edge->companion && undead_is_executable(edge->companion)))
      undead_word_map_set(&roles, to->isa, UNDEAD_ROLE_CLOSURE);
  }
  learning = false;
}

undead_context_role undead_role_of_context(const undead_scan_result *result, uintptr_t isa) {
  learn_roles(result);
  uintptr_t role;
  if (undead_word_map_get(&roles, isa, &role)) return (undead_context_role)role;
  uint32_t count = undead_captures_of(isa)->count;
  return count > 1 ? UNDEAD_ROLE_CLOSURE : UNDEAD_ROLE_UNKNOWN;
}
