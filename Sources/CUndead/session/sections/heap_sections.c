// The sections of a heap file that have entries of one size: types, sites, places, roots, tasks, queues, generations. The graph
// itself is written by scan/graph while it is walked. Names are made here, once for each number, when the graph is complete.
// Called by the snapshot's writer; the layout is in Documentation/heap-format.md.
#include "session/sections/snapshot_sections.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/generations.h"
#include "record/sample.h"
#include "runtime/layout.h"
#include "runtime/variables.h"
#include "session/state/state_file.h"
#include "session/buffers/buffers.h"
#include "world/images.h"
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 2048

enum { SITE_RAW_OF_SWIFT = 1, SITE_SAMPLED = 2, ELEMENT_UNKNOWN = UINT32_MAX };

enum { STRENGTH_NUMBER = 4 };   // no reference at all
enum { PLACE_UNOWNED = 8, OWNERSHIP_UNOWNED = 2 };   // behind UNDEAD_PLACE_*: unowned, and not weak

typedef struct {
  uint32_t type, flags;
  uint64_t size;
} shape_entry;

typedef struct {
  uint32_t stack, generation, flags, sample_mean;
} site_entry;

typedef struct {
  uint32_t type, offset, label, declared_type, strength, flags;
  uint64_t function;
} place_entry;

typedef struct {
  uint32_t kind, name;
  uint64_t address;
  uint32_t thread, flags;
} root_entry;

typedef struct {
  uint32_t shape, stack, status, unused;
} wait_entry;

typedef struct {
  uint32_t block, descriptor, field, offset;
} holder_entry;

typedef struct {
  uint64_t edge;
  uint32_t stack, unused;
} stack_word_entry;

typedef struct {
  uint32_t block, label;
} queue_entry;

typedef struct {
  uint64_t address, parent, group, waits_for;
  uint32_t id, name, stack, status;
  uint8_t dependency, priority;
  uint16_t flags;
  uint32_t unused[3];
} task_entry;

typedef struct {
  uint32_t number, name;
  uint64_t nanoseconds;
} generation_entry;

typedef struct {
  undead_writer *writer;
  const undead_check *check;
  const undead_graph *graph;
  undead_scan_result named;   // one block of each type and one reference of each place, for the functions that name
  uint32_t *types;            // index in TYPES of each type of the graph
} heap_names;

static void release_names(heap_names *names) {
  const undead_graph *graph = names->graph;
  if (names->named.nodes) undead_unmap(names->named.nodes, (graph->type_count + 1ull) * sizeof(undead_node));
  if (names->named.edges) undead_unmap(names->named.edges, (graph->place_count + 1ull) * sizeof(undead_edge));
  if (names->named.paths) undead_unmap(names->named.paths, (graph->root_count + 1ull) * sizeof(undead_path));
  if (names->types) undead_unmap(names->types, (graph->type_count + 1ull) * sizeof(uint32_t));
}

static bool prepare_names(heap_names *names) {
  const undead_graph *graph = names->graph;
  undead_scan_result *named = &names->named;
  // Tells these facts from those of other results: roles of contexts are learned once for each.
  named->scan_nanoseconds = names->writer->result->scan_nanoseconds + 1;
  named->nodes = undead_map((graph->type_count + 1ull) * sizeof *named->nodes);
  named->edges = undead_map((graph->place_count + 1ull) * sizeof *named->edges);
  named->paths = undead_map((graph->root_count + 1ull) * sizeof *named->paths);
  names->types = undead_map((graph->type_count + 1ull) * sizeof *names->types);
  if (!named->nodes || !named->edges || !named->paths || !names->types) return false;
  for (uint32_t i = 0; i < graph->type_count; i++) {
    const undead_graph_type *type = &graph->types[i];
    named->nodes[i] = (undead_node){.address = type->sample, .size = type->sample_size, .isa = type->isa,
                                    .kind = (uint8_t)type->kind, .state = UNDEAD_STATE_LIVE};
  }
  named->node_count = graph->type_count;
  // The last node stands for what has no type.
  named->nodes[named->node_count++] = (undead_node){.state = UNDEAD_STATE_LIVE};
  for (uint32_t i = 0; i < graph->place_count; i++) {
    const undead_graph_place *place = &graph->places[i];
    uint32_t none = graph->type_count;
    named->edges[i] = (undead_edge){.from = place->type == UINT32_MAX ? none : place->type,
                                    .to = place->target_type == UINT32_MAX ? none : place->target_type,
                                    .offset = place->sample_offset, .value = place->value,
                                    .companion = place->companion};
  }
  named->edge_count = graph->place_count;
  return true;
}

static bool names_have_failed(const heap_names *names) {
  return names->writer->output->error || undead_tables_failed(&names->writer->tables);
}

// Memory that begins with an address in an image is only a type if it is known.
static void name_types(heap_names *names) {
  char text[NAME_BYTES];
  for (uint32_t i = 0; i < names->graph->type_count && !names_have_failed(names); i++) {
    names->types[i] = UNDEAD_NO_INDEX;
    if (names->graph->types[i].kind == UNDEAD_KIND_OTHER) {
      undead_name_node(&names->named, i, text, sizeof text);
      if (strcmp(text, "malloc block") == 0) continue;
    }
    names->types[i] = undead_table_type(&names->writer->tables, &names->named, i);
  }
}

static uint32_t type_index(const heap_names *names, uint32_t type) {
  return type == UINT32_MAX ? UNDEAD_NO_INDEX : names->types[type];
}

static void write_shapes(heap_names *names) {
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_SHAPES, sizeof(shape_entry));
  for (uint32_t i = 0; i < names->graph->shape_count; i++) {
    const undead_graph_shape *shape = &names->graph->shapes[i];
    shape_entry entry = {type_index(names, shape->type), shape->flags, shape->size};
    undead_section_add(names->writer, section, &entry);
  }
}

static uint32_t stack_of_type(heap_names *names, const undead_graph_type *type) {
  const uintptr_t *frames = names->graph->frames + type->first_frame;
  return type->frame_count ? undead_table_stack(&names->writer->tables, frames, type->frame_count) : UNDEAD_NO_INDEX;
}

static void write_waits(heap_names *names) {
  const undead_graph *graph = names->graph;
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_WAITS, sizeof(wait_entry));
  for (uint32_t i = 0; i < graph->shape_count; i++) {
    if (graph->shapes[i].type == UINT32_MAX) continue;
    const undead_graph_type *type = &graph->types[graph->shapes[i].type];
    if (type->kind != UNDEAD_KIND_TASK) continue;
    wait_entry entry = {.shape = i, .stack = stack_of_type(names, type), .status = type->status};
    undead_section_add(names->writer, section, &entry);
  }
}

static void write_tasks(heap_names *names) {
  const undead_graph *graph = names->graph;
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_TASKS, sizeof(task_entry));
  uint32_t last = UINT32_MAX, stack = UNDEAD_NO_INDEX;
  bool loops = false;
  for (uint32_t i = 0; i < graph->task_count && !names_have_failed(names); i++) {
    const undead_graph_task *task = &graph->tasks[i];
    if (task->type == UINT32_MAX && !(task->flags & UNDEAD_TASK_TIMER)) continue;
    if (task->type != last && task->type != UINT32_MAX) {
      const undead_graph_type *type = &graph->types[last = task->type];
      stack = stack_of_type(names, type);
      loops = undead_frames_loop(graph->frames + type->first_frame, type->frame_count);
    }
    task_entry entry = {.address = task->address, .parent = task->parent, .group = task->group, .waits_for = task->waits_for,
                        .id = task->id, .name = undead_string_add(&names->writer->tables.strings, graph->task_names + task->name),
                        .stack = task->type == UINT32_MAX ? UNDEAD_NO_INDEX : stack,
                        .status = task->type == UINT32_MAX ? 0 : graph->types[task->type].status, .dependency = task->dependency,
                        .priority = task->priority, .flags = task->flags | (loops ? UNDEAD_TASK_LOOPS : 0)};
    undead_section_add(names->writer, section, &entry);
  }
}

static void write_task_memory(const heap_names *names) {
  const undead_graph *graph = names->graph;
  undead_section_write(names->writer, UNDEAD_SECTION_HEAP_TASK_MEMORY, sizeof *graph->task_memory, graph->task_memory,
                       graph->task_memory_count * sizeof *graph->task_memory);
}

// Without the section nothing is known: half of the words would make tasks that they name seem lost.
static void write_inner_words(const heap_names *names) {
  const undead_graph *graph = names->graph;
  if (graph->inner_word_count == UNDEAD_INNER_WORDS) return;
  undead_section_write(names->writer, UNDEAD_SECTION_HEAP_INNER_WORDS, sizeof *graph->inner_words, graph->inner_words,
                       graph->inner_word_count * sizeof *graph->inner_words);
}

static void write_queues(heap_names *names) {
  const undead_graph *graph = names->graph;
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_QUEUES, sizeof(queue_entry));
  for (uint32_t i = 0; i < graph->queue_count && !names_have_failed(names); i++) {
    uint32_t label = undead_string_add(&names->writer->tables.strings, graph->task_names + graph->queues[i].label);
    undead_section_add(names->writer, section, &(queue_entry){graph->queues[i].block, label});
  }
}

static void write_sites(heap_names *names) {
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_SITES, sizeof(site_entry));
  for (uint32_t i = 0; i < names->graph->site_count && !names_have_failed(names); i++) {
    uint32_t backtrace = names->graph->sites[i];
    site_entry entry = {.stack = undead_table_backtrace(&names->writer->tables, backtrace),
                        .generation = undead_generation_of_backtrace(backtrace),
                        .flags = undead_graph_is_raw_of_swift(backtrace) ? SITE_RAW_OF_SWIFT : 0,
                        .sample_mean = undead_sample_mean_of(backtrace)};
    if (entry.sample_mean) entry.flags |= SITE_SAMPLED;
    if (i % 1024 == 0) undead_state_set_progress(i, names->graph->site_count);
    undead_section_add(names->writer, section, &entry);
  }
}

// "users[17].name" -> "users[].name": elements share their places.
static void drop_indices(char *label) {
  char *to = label;
  bool inside = false;
  for (const char *from = label; *from; from++) {
    if (*from == '[' && from[1] >= '0' && from[1] <= '9') {
      inside = true;
      *to++ = '[';
    } else if (!inside || *from < '0' || *from > '9') {
      inside = false;
      *to++ = *from;
    }
  }
  *to = 0;
}

static uint32_t offset_of(const undead_graph_place *place) {
  bool known = place->flags & UNDEAD_PLACE_ELEMENT && place->offset != ELEMENT_UNKNOWN;
  return known ? place->offset >> 1 : place->offset;   // the lowest bit distinguishes keys and values
}

// A word behind the last capture is left from before.
static uint32_t strength_of(const heap_names *names, const undead_graph_place *place, const undead_edge_name *name) {
  bool captured = place->type != UINT32_MAX && names->graph->types[place->type].kind == UNDEAD_KIND_CONTEXT;
  return captured && name->flags & UNDEAD_EDGE_WEAK ? STRENGTH_NUMBER : place->strength;
}

static void write_places(heap_names *names) {
  undead_tables *tables = &names->writer->tables;
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_PLACES, sizeof(place_entry));
  static undead_edge_name name;
  for (uint32_t i = 0; i < names->graph->place_count && !names_have_failed(names); i++) {
    const undead_graph_place *place = &names->graph->places[i];
    memset(&name, 0, sizeof(name));
    bool implied = place->flags & UNDEAD_PLACE_IMPLIED;
    if (type_index(names, place->type) != UNDEAD_NO_INDEX && !implied) undead_name_edge(&names->named, i, &name);
    drop_indices(name.label);
    place_entry entry = {.type = type_index(names, place->type),
                         .offset = offset_of(place),
                         .label = undead_string_add(&tables->strings, implied ? "weak references" : name.label),
                         .declared_type = undead_string_add(&tables->strings, name.type),
                         .strength = strength_of(names, place, &name),
                         .flags = place->flags | (name.ownership == OWNERSHIP_UNOWNED ? PLACE_UNOWNED : 0),
                         .function = name.function};
    if (name.function) undead_table_module(tables, name.function);
    undead_section_add(names->writer, section, &entry);
  }
}

static void name_memory(const undead_graph_root *root, char *text, size_t size) {
  const undead_mapping *mapping = undead_mapping_of(root->address);
  const char *path = mapping ? mapping->path : "";
  undead_text name = undead_text_in(text, size);
  if (root->kind == UNDEAD_ROOT_UNRECORDED) undead_text_add(&name, "memory from before recording");
  else if (strcmp(path, "[heap]") == 0) undead_text_add(&name, "memory that the loader allocated");
  else if (path[0] == '/') {
    undead_text_join(&name, "mapped file ", path);
  } else undead_text_add(&name, "memory that the program mapped");
}

static uint32_t name_root(heap_names *names, uint32_t index) {
  const undead_graph_root *root = &names->graph->roots[index];
  const undead_facts *facts = names->check->facts;
  char text[NAME_BYTES];
  if (root->kind == UNDEAD_ROOT_RUN_LOOP && facts) return undead_section_loop_name(names->writer, facts, root->item);
  names->named.paths[0] =
    (undead_path){.root_kind = root->kind, .thread = root->thread, .root_address = root->address, .item = root->item};
  names->named.path_count = 1;
  bool of_memory = root->kind == UNDEAD_ROOT_UNRECORDED
    || (root->kind == UNDEAD_ROOT_GLOBAL && !undead_module_of(root->address));
  if (of_memory) name_memory(root, text, sizeof text);
  else undead_name_root(&names->named, 0, text, sizeof text);
  return undead_string_add(&names->writer->tables.strings, text);
}

// How far from the start of its variable a word lies, and one; 0 if that is not known.
static uint32_t offset_in_variable(const undead_graph_root *root) {
  uintptr_t start = 0;
  if (root->kind != UNDEAD_ROOT_GLOBAL || !undead_symbol_name(root->address, &start)[0]) return 0;
  return start && root->address - start < UINT16_MAX ? (uint32_t)(root->address - start) + 1 : 0;
}

static void write_roots(heap_names *names) {
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_ROOTS, sizeof(root_entry));
  for (uint32_t i = 0; i < names->graph->root_count && !names_have_failed(names); i++) {
    const undead_graph_root *root = &names->graph->roots[i];
    bool in_memory = root->kind == UNDEAD_ROOT_GLOBAL || root->kind == UNDEAD_ROOT_UNRECORDED;
    root_entry entry = {.kind = root->kind, .name = name_root(names, i), .address = in_memory ? root->address : 0,
                        .thread = root->thread, .flags = root->flags | offset_in_variable(root) << 16};
    undead_section_add(names->writer, section, &entry);
  }
}

static void write_stack_words(heap_names *names) {
  const undead_graph *graph = names->graph;
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_STACK_WORDS, sizeof(stack_word_entry));
  for (uint32_t i = 0; i < graph->stack_word_count && !names_have_failed(names); i++) {
    const undead_graph_stack_word *word = &graph->stack_words[i];
    uint32_t stack = undead_table_stack(&names->writer->tables, graph->frames + word->first_frame, word->frame_count);
    undead_section_add(names->writer, section, &(stack_word_entry){word->edge, stack, 0});
  }
}

static void write_generations(heap_names *names) {
  undead_section *section =
    undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_GENERATIONS, sizeof(generation_entry));
  undead_generation generation;
  for (uint32_t number = 1; undead_generation_get(number, &generation); number++) {
    uint32_t name = undead_string_add(&names->writer->tables.strings, generation.name);
    generation_entry entry = {number, name, generation.nanoseconds};
    undead_section_add(names->writer, section, &entry);
  }
}

typedef struct {
  heap_names *names;
  undead_section *section;
} holder_writer;

// Variables are read when the world runs again: who reads the file knows which numbers were those of open files.
static bool write_variable(void *context, const char *name, uintptr_t address, size_t size) {
  holder_writer *writer = context;
  int form = undead_variable_descriptor(name, size);
  uint64_t value = 0;
  if (form < 0 || size > sizeof value || !undead_copy_memory(address, &value, size)) return true;
  bool there = form == UNDEAD_DESCRIPTOR_OPTIONAL ? !(value >> 32 & 1) : value <= INT32_MAX;
  // A variable that nobody used yet is 0.
  if (!there || (uint32_t)value <= STDERR_FILENO || (uint32_t)value > INT32_MAX) return true;
  uint32_t field = undead_string_add(&writer->names->writer->tables.strings, name);
  undead_section_add(writer->names->writer, writer->section,
                     &(holder_entry){.block = UNDEAD_NO_INDEX, .descriptor = (uint32_t)value, .field = field});
  return !names_have_failed(writer->names);
}

static void write_variables(heap_names *names, undead_section *section) {
  holder_writer writer = {names, section};
  if (!undead_images_map()) return;
  for (size_t i = 0; i < undead_module_count(); i++) {
    const undead_module *module = undead_module_at(i);
    if (!module->toolchain && undead_symbol_address(module, "__swift_reflection_version", NULL))
      undead_symbols_each_variable(module, write_variable, &writer);
  }
}

static void write_words(heap_names *names) {
  const undead_graph *graph = names->graph;
  undead_section_write(names->writer, UNDEAD_SECTION_HEAP_ROOT_WORDS, sizeof *graph->slices, graph->slices,
                       graph->slice_count * sizeof *graph->slices);
  undead_section *section = undead_section_begin(names->writer, UNDEAD_SECTION_HEAP_HOLDERS, sizeof(holder_entry));
  for (uint32_t i = 0; i < graph->holder_count; i++) {
    const undead_graph_holder *holder = &graph->holders[i];
    uint32_t field = undead_string_add(&names->writer->tables.strings, holder->field);
    holder_entry entry = {holder->block, holder->descriptor, field, holder->offset};
    undead_section_add(names->writer, section, &entry);
  }
  write_variables(names, section);
}

static void write_all(heap_names *names) {
  undead_state_set_step("naming the heap");
  name_types(names);
  write_shapes(names);
  write_waits(names);
  write_tasks(names);
  write_task_memory(names);
  write_inner_words(names);
  write_queues(names);
  write_sites(names);
  write_places(names);
  write_roots(names);
  write_stack_words(names);
  write_generations(names);
  write_words(names);
  undead_heap_memory_write(names->writer, names->graph);
  undead_heap_malloc_write(names->writer, names->graph);
}

void undead_heap_sections_write(undead_writer *writer, const undead_check *check) {
  const undead_graph *graph = check->options.graph;
  if (!graph || !graph->complete) return;
  undead_section_place(writer, UNDEAD_SECTION_HEAP_GRAPH, graph->start, graph->graph_bytes);
  undead_section_place(writer, UNDEAD_SECTION_HEAP_ROOT_EDGES, graph->start + graph->root_offset, graph->root_bytes);
  heap_names names = {.writer = writer, .check = check, .graph = graph};
  if (prepare_names(&names)) write_all(&names);
  else writer->tables.failed = true;
  release_names(&names);
}
