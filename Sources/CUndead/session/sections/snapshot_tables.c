#include "session/sections/snapshot_tables.h"
#include "platform/maps/maps.h"
#include "runtime/layout.h"
#include "unwind/backtrace.h"

#define NAME_BYTES 2048
#define FRAME_LIMIT 512

enum { TYPE_OF_PROGRAM = 1, MODULE_OF_SYSTEM = 1 };
// Second key words that keep stored backtraces and explaining frames apart in one map.
enum { KEY_BACKTRACE = 1 };

static uint32_t add_entry(undead_tables *tables, undead_vector *vector, const void *entry, size_t size) {
  uint32_t index = (uint32_t)(vector->size / size);
  if (!undead_vector_append(vector, entry, size)) tables->failed = true;
  return index;
}

static void remember_index(undead_tables *tables, undead_index_map *map, uint64_t first, uint64_t second, uint32_t index) {
  if (!undead_index_add(map, first, second, index)) tables->failed = true;
}

// Objects of one class share their name, but for those whose class stands for many (CF objects).
static bool is_named_by_isa(const undead_node *node, const undead_layout *layout) {
  return node->kind == UNDEAD_KIND_CLASS && layout && layout->category != UNDEAD_CATEGORY_CF;
}

static uint32_t name_of(
    undead_tables *tables, const undead_scan_result *result, uint32_t index, const undead_layout *layout) {
  const undead_node *node = &result->nodes[index];
  bool shared = is_named_by_isa(node, layout);
  uint32_t name = shared ? undead_index_find(&tables->name_of_isa, node->isa, 0) : UNDEAD_NO_INDEX;
  if (name != UNDEAD_NO_INDEX) return name;
  char text[NAME_BYTES];
  undead_name_node(result, index, text, sizeof(text));
  name = undead_string_add(&tables->strings, text);
  if (shared) remember_index(tables, &tables->name_of_isa, node->isa, 0, name);
  return name;
}

uint32_t undead_table_type(undead_tables *tables, const undead_scan_result *result, uint32_t index) {
  const undead_node *node = &result->nodes[index];
  bool has_isa = node->kind != UNDEAD_KIND_OTHER && node->kind != UNDEAD_KIND_SIDE_TABLE;
  const undead_layout *layout = has_isa ? undead_layout_of(node->isa) : NULL;
  undead_type_entry entry = {
      .isa = has_isa ? node->isa : 0,
      .name = name_of(tables, result, index, layout),
      .kind = node->kind,
      .flags = layout && layout->user_type ? TYPE_OF_PROGRAM : 0,
  };
  uint64_t second = (uint64_t)entry.name << 8 | entry.kind;
  uint32_t known = undead_index_find(&tables->type_indices, entry.isa, second);
  if (known != UNDEAD_NO_INDEX) return known;
  uint32_t added = add_entry(tables, &tables->types, &entry, sizeof(entry));
  remember_index(tables, &tables->type_indices, entry.isa, second, added);
  return added;
}

void undead_table_module(undead_tables *tables, uintptr_t address) {
  if (address >= tables->last_low && address < tables->last_high) return;
  const undead_module *module = undead_module_of(address);
  if (!module) return;
  tables->last_low = module->low;
  tables->last_high = module->high;
  if (undead_index_find(&tables->module_indices, module->low, module->high) != UNDEAD_NO_INDEX) return;
  undead_module_entry entry = {
      .low = module->low,
      .high = module->high,
      .bias = module->bias,
      .path = undead_string_add(&tables->strings, module->path),
      .build_id = undead_string_add(&tables->strings, module->build_id),
      .flags = module->toolchain ? MODULE_OF_SYSTEM : 0,
  };
  uint32_t added = add_entry(tables, &tables->modules, &entry, sizeof(entry));
  remember_index(tables, &tables->module_indices, module->low, module->high, added);
}

static uint32_t add_stack(undead_tables *tables, const uintptr_t *frames, uint32_t count) {
  undead_stack_entry entry = {(uint32_t)(tables->frames.size / sizeof(uint64_t)), count};
  if (!undead_vector_append(&tables->frames, frames, count * sizeof(uintptr_t))) tables->failed = true;
  for (uint32_t i = 0; i < count; i++) undead_table_module(tables, frames[i] - 1);
  return add_entry(tables, &tables->stacks, &entry, sizeof(entry));
}

uint32_t undead_table_stack(undead_tables *tables, const uintptr_t *frames, uint32_t count) {
  if (count == 0) return UNDEAD_NO_INDEX;
  uint64_t first = undead_hash(frames, count * sizeof(frames[0]), 1);
  uint64_t second = undead_hash(frames, count * sizeof(frames[0]), 2);
  uint32_t known = undead_index_find(&tables->stack_indices, first, second);
  if (known != UNDEAD_NO_INDEX) return known;
  uint32_t added = add_stack(tables, frames, count);
  remember_index(tables, &tables->stack_indices, first, second, added);
  return added;
}

uint32_t undead_table_backtrace(undead_tables *tables, uint32_t backtrace) {
  if (backtrace <= UNDEAD_BACKTRACE_NONE) return UNDEAD_NO_INDEX;
  uint32_t known = undead_index_find(&tables->stack_indices, backtrace, KEY_BACKTRACE);
  if (known != UNDEAD_NO_INDEX) return known;
  uintptr_t frames[FRAME_LIMIT];
  uint32_t count = undead_backtrace_frames(backtrace, frames, FRAME_LIMIT);
  if (count == 0) return UNDEAD_NO_INDEX;
  // Scopes and generations have backtraces of their own, of the same frames.
  uint32_t added = undead_table_stack(tables, frames, count);
  remember_index(tables, &tables->stack_indices, backtrace, KEY_BACKTRACE, added);
  return added;
}

uint32_t undead_table_explanation(undead_tables *tables, const undead_scan_result *result, uint32_t node) {
  uintptr_t frames[FRAME_LIMIT];
  return undead_table_stack(tables, frames, undead_node_frames(result, node, frames, FRAME_LIMIT));
}

bool undead_tables_failed(const undead_tables *tables) { return tables->failed || tables->strings.failed; }

void undead_tables_free(undead_tables *tables) {
  undead_strings_free(&tables->strings);
  undead_vector *vectors[] = {&tables->types, &tables->stacks, &tables->frames, &tables->modules};
  for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) undead_vector_free(vectors[i]);
  undead_index_map *maps[] = {
      &tables->type_indices, &tables->stack_indices, &tables->module_indices, &tables->name_of_isa};
  for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) undead_index_free(maps[i]);
}
