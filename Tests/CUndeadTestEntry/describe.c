#include "undead_supported.h"
#if UNDEAD_SUPPORTED && UNDEAD_TEST_ENTRY
// For tests only: the runtime layer as seen from Swift.
#define _GNU_SOURCE
#include "undead_test_runtime.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "runtime/abi.h"
#include "runtime/captures/captures.h"
#include "runtime/metadata/memory_reader.h"
#include "runtime/names/naming.h"
#include <malloc.h>

enum { MAX_WORDS = 512, MAX_BYTES = MAX_WORDS * 8 };

static undead_kind kind_of_target(uintptr_t value) {
  if ((value & 15) || !undead_is_readable(value, 16)) return UNDEAD_KIND_OTHER;
  return undead_classify(read_word(value), UINT64_MAX);
}

static void add_edge(undead_scan_result *result, uintptr_t object, uint32_t offset) {
  uintptr_t value = read_word(object + offset), target = value & UNDEAD_REFERENCE_BITS;
  undead_kind kind = kind_of_target(target);
  if (kind == UNDEAD_KIND_OTHER || result->edge_count == MAX_WORDS) return;
  undead_node *node = &result->nodes[result->node_count];
  *node = (undead_node){.address = target, .size = 16, .isa = read_word(target), .kind = (uint8_t)kind,
                        .state = UNDEAD_STATE_LEAKED};
  result->edges[result->edge_count++] = (undead_edge){
    .to = result->node_count++, .offset = offset, .value = value, .companion = read_word(object + offset - 8)};
}

static void add_line(undead_text *text, const undead_scan_result *result, uint32_t edge) {
  static const char *const ownership[] = {"strong", "weak", "unowned", "unmanaged"};
  static undead_edge_name name;
  char target[1024];
  undead_name_edge(result, edge, &name);
  undead_name_node(result, result->edges[edge].to, target, sizeof target);
  undead_text_number(text, result->edges[edge].offset);
  undead_text_add(text, "\t");
  undead_text_add(text, name.label);
  undead_text_add(text, "\t");
  undead_text_add(text, name.type);
  undead_text_add(text, "\t");
  undead_text_add(text, name.flags & UNDEAD_EDGE_WEAK ? "unused" : ownership[name.ownership & 3]);
  undead_text_add(text, name.function ? "\tfunction\t" : "\t\t");
  undead_text_add(text, target);
  undead_text_add(text, "\n");
}

static void look_around(void) {
  undead_maps_refresh();
  undead_modules_refresh();
}

size_t undead_test_describe(const void *object, char *text, size_t text_size) {
  static undead_node nodes[MAX_WORDS + 1];
  static undead_edge edges[MAX_WORDS];
  look_around();
  undead_text lines = undead_text_in(text, text_size);
  size_t size = malloc_usable_size((void *)object);
  if (size > MAX_BYTES) size = MAX_BYTES;
  uintptr_t address = (uintptr_t)object, isa = read_word(address);
  undead_layouts_add(&isa, 1);
  nodes[0] = (undead_node){.address = address, .size = size, .isa = isa,
                           .kind = (uint8_t)undead_classify(isa, size), .state = UNDEAD_STATE_LEAKED};
  undead_scan_result result = {.nodes = nodes, .node_count = 1, .edges = edges};
  const undead_layout *layout = undead_layout_of(isa);
  for (uint32_t offset = ABI_OBJECT_HEADER; offset + 8 <= size; offset += 8) add_edge(&result, address, offset);
  for (uint32_t i = 1; i < result.node_count; i++) undead_layouts_add(&nodes[i].isa, 1);
  char name[2048];
  undead_name_node(&result, 0, name, sizeof name);
  undead_text_add(&lines, name);
  undead_text_add(&lines, "\nskip");
  for (uint32_t i = 0; layout && i < layout->skip_count; i++) {
    undead_text_add(&lines, " ");
    undead_text_number(&lines, layout->skip[i]);
  }
  undead_text_add(&lines, "\n");
  for (uint32_t i = 0; i < result.edge_count; i++) add_line(&lines, &result, i);
  return lines.length;
}

static void add_form(undead_text *words, const undead_mangled *name) {
  static const char *const kinds[] = {"v", "b", "f", "c", "r"};
  undead_capture_form form = undead_capture_form_of(name);
  undead_text_add(words, kinds[form.kind]);
  undead_text_add(words, form.unlike_type ? "!" : "");
  undead_text_add(words, form.escapes ? "e" : "");
  undead_text_add(words, form.optional ? "?" : "");
  if (form.sized) undead_text_number(words, form.size);
}

size_t undead_test_capture_forms(const void *context, char *text, size_t text_size) {
  undead_capture_list captures;
  undead_text words = undead_text_in(text, text_size);
  look_around();
  undead_capture_list_of(read_word((uintptr_t)context), &captures);
  for (uint32_t i = 0; i < captures.types; i++) {
    undead_mangled name = undead_capture_name(&captures, i);
    undead_text_add(&words, i ? " " : "");
    add_form(&words, &name);
  }
  return words.length;
}

size_t undead_test_form_of_name(const char *name, char *text, size_t text_size) {
  undead_text words = undead_text_in(text, text_size);
  look_around();
  undead_mangled mangled = undead_mangled_at((uintptr_t)name);
  add_form(&words, &mangled);
  return words.length;
}

uint32_t undead_test_kind(uintptr_t word, size_t size) {
  look_around();
  return undead_classify(word, size);
}

uint32_t undead_test_category(const void *object, bool *user_type) {
  look_around();
  uintptr_t isa = read_word((uintptr_t)object);
  undead_layouts_add(&isa, 1);
  const undead_layout *layout = undead_layout_of(isa);
  *user_type = layout && layout->user_type;
  return layout ? layout->category : UNDEAD_CATEGORY_NONE;
}

uint32_t undead_test_task_frames(const void *task, uintptr_t *frames, uint32_t max) {
  look_around();
  undead_node node = {.address = (uintptr_t)task, .kind = UNDEAD_KIND_TASK, .state = UNDEAD_STATE_LEAKED};
  undead_scan_result result = {.nodes = &node, .node_count = 1};
  return undead_node_frames(&result, 0, frames, max);
}

uintptr_t undead_test_symbol_at(uintptr_t address, char *text, size_t text_size) {
  look_around();
  uintptr_t start;
  undead_text name = undead_text_in(text, text_size);
  undead_text_add(&name, undead_symbol_name(address, &start));
  return start;
}

uintptr_t undead_test_symbol(const char *image, const char *name) {
  look_around();
  for (size_t i = 0; i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    const char *slash = strrchr(module->path, '/');
    if (!strncmp(slash ? slash + 1 : module->path, image, strlen(image)))
      return undead_symbol_address(module, name, NULL);
  }
  return 0;
}

bool undead_test_is_toolchain(uintptr_t address) {
  look_around();
  const undead_module *module = undead_module_of(address);
  return module && module->toolchain;
}
#endif
