// For tests only: names one object as if a scan had found it leaked.
#define _GNU_SOURCE
#include "platform/maps.h"
#include "runtime/abi.h"
#include "runtime/memory_reader.h"
#include "runtime/naming.h"

enum { MAX_WORDS = 512 };

static undead_kind kind_of_target(uintptr_t value) {
  return (value & 15) || !undead_is_readable(value, 16) ? UNDEAD_KIND_OTHER : undead_classify(read_word(value), UINT64_MAX);
}

static void add_edge(undead_scan_result *result, uintptr_t object, uint32_t offset) {
  uintptr_t value = read_word(object + offset), target = value & 0x00FFFFFFFFFFFFF8ull;
  undead_kind kind = kind_of_target(target);
  if (kind == UNDEAD_KIND_OTHER || result->edge_count == MAX_WORDS) return;
  undead_node *node = &result->nodes[result->node_count];
  *node = (undead_node){.address = target, .size = 16, .isa = read_word(target), .kind = (uint8_t)kind,
                        .state = UNDEAD_STATE_LEAKED};
  result->edges[result->edge_count++] = (undead_edge){
    .from = 0, .to = result->node_count++, .offset = offset, .value = value, .companion = read_word(object + offset - 8)};
}

static void add_line(undead_text *text, const undead_scan_result *result, uint32_t edge) {
  static const char *const ownership[] = {"strong", "weak", "unowned", "unmanaged"};
  static undead_edge_name name;
  char target[1024];
  undead_name_edge(result, edge, &name);
  undead_name_node(result, result->edges[edge].to, target, sizeof target);
  text_add_number(text, result->edges[edge].offset);
  text_add(text, "\t");
  text_add(text, name.label);
  text_add(text, "\t");
  text_add(text, name.type);
  text_add(text, "\t");
  text_add(text, ownership[name.ownership & 3]);
  text_add(text, name.function ? "\tfunction\t" : "\t\t");
  text_add(text, target);
  text_add(text, "\n");
}

// The first line is the name of the object, the second the offsets of its skipped words; then a line for each word that
// leads to a Swift object: offset, label, declared type, ownership, "function" if it is a closure's, name of the target.
size_t undead_test_describe(const void *object, size_t size, char *text, size_t text_size) {
  static undead_node nodes[MAX_WORDS + 1];
  static undead_edge edges[MAX_WORDS];
  undead_maps_refresh();
  if (undead_module_count() == 0) undead_modules_refresh();
  undead_text lines = text_in(text, text_size);
  uintptr_t address = (uintptr_t)object, isa = read_word(address);
  undead_layouts_add(&isa, 1);
  nodes[0] = (undead_node){.address = address, .size = size, .isa = isa, .refcount = read_word(address + 8),
                           .kind = (uint8_t)undead_classify(isa, size), .state = UNDEAD_STATE_LEAKED};
  undead_scan_result result = {.nodes = nodes, .node_count = 1, .edges = edges};
  for (uint32_t offset = ABI_OBJECT_HEADER; offset + 8 <= size; offset += 8) add_edge(&result, address, offset);
  for (uint32_t i = 1; i < result.node_count; i++) undead_layouts_add(&nodes[i].isa, 1);
  char name[2048];
  undead_name_node(&result, 0, name, sizeof name);
  text_add(&lines, name);
  text_add(&lines, "\nskip");
  const undead_layout *layout = undead_layout_of(isa);
  for (uint32_t i = 0; layout && i < layout->skip_count; i++) {
    text_add(&lines, " ");
    text_add_number(&lines, layout->skip[i]);
  }
  text_add(&lines, "\n");
  for (uint32_t i = 0; i < result.edge_count; i++) add_line(&lines, &result, i);
  return lines.length;
}
