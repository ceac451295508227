// Writes the result of a scan as a snapshot: a header, then sections of entries of one size, which refer to the tables of texts,
// types, stacks and modules by index (snapshot_tables.c). The tables come last, and the header when all offsets are known. An
// error stays in the output: nothing is written behind it.
#include "platform/maps/maps.h"
#include "runtime/layout.h"
#include "session/sections/snapshot_sections.h"
#include "session/snapshot/snapshot.h"
#include "session/state/process.h"
#include "session/state/state_file.h"
#include <errno.h>
#include <unistd.h>

typedef struct {
  char magic[8];
  uint32_t version, header_size;
  uint64_t file_size, checksum;
  uint32_t section_count, flags, byte_order, pointer_size;
  uint8_t reserved[16];
} file_header;
_Static_assert(sizeof(file_header) == 64, "the layout is a contract");

typedef struct {
  uint64_t address, size;
  uint32_t type, stack, explanation, state, flags;
  uint16_t strong, counted;
} node_entry;
_Static_assert(sizeof(node_entry) == 40, "the layout is a contract");

typedef struct {
  uint32_t from, to, offset, label, type, ownership;
  uint64_t function;
  uint32_t flags, unused;
} edge_entry;
_Static_assert(sizeof(edge_entry) == 40, "the layout is a contract");

typedef struct {
  uint32_t root_kind, root_name;
  uint64_t root_address;
  uint32_t thread, first_node, first_step, step_count, end_node, unused;
} path_entry;
_Static_assert(sizeof(path_entry) == 40, "the layout is a contract");

typedef struct {
  uint32_t kind, object, mechanism, path;
} suspect_entry;

typedef struct {
  uint32_t node, owner, field, type;
} owner_field_entry;

typedef struct {
  uint32_t path, strong, counted, flags;
} owner_entry;
#define OWNER_SHARED 1u

#define MOST_COUNTED UINT16_MAX   // references of a node

static void show_progress(const char *step, uint32_t done, uint32_t all) {
  if (done == 0) undead_state_set_step(step);
  if (done % 1024 == 0) undead_state_set_progress(done, all);
}

static bool writer_has_failed(const undead_writer *writer) {
  return writer->output->error != 0 || undead_tables_failed(&writer->tables);
}

static void write_nodes(undead_writer *writer) {
  const undead_scan_result *result = writer->result;
  undead_tables *tables = &writer->tables;
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_NODES, sizeof(node_entry));
  for (uint32_t i = 0; i < result->node_count && !writer_has_failed(writer); i++) {
    show_progress("naming objects", i, result->node_count);
    const undead_node *node = &result->nodes[i];
    node_entry entry = {
        .address = node->address,
        .size = node->size,
        .type = undead_table_type(tables, result, i),
        .stack = undead_table_backtrace(tables, node->backtrace),
        .explanation = undead_table_explanation(tables, result, i),
        .state = node->state,
        .flags = node->flags,
        .strong = (uint16_t)(node->strong < MOST_COUNTED ? node->strong : MOST_COUNTED),
        .counted = (uint16_t)(node->counted < MOST_COUNTED ? node->counted : MOST_COUNTED),
    };
    undead_section_add(writer, section, &entry);
  }
}

static void write_edges(undead_writer *writer) {
  const undead_scan_result *result = writer->result;
  undead_tables *tables = &writer->tables;
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_EDGES, sizeof(edge_entry));
  undead_edge_name name;
  for (uint32_t i = 0; i < result->edge_count && !writer_has_failed(writer); i++) {
    show_progress("naming fields", i, result->edge_count);
    const undead_edge *edge = &result->edges[i];
    undead_name_edge(result, i, &name);
    edge_entry entry = {
        .from = edge->from,
        .to = edge->to,
        .offset = edge->offset,
        .label = undead_string_add(&tables->strings, name.label),
        .type = undead_string_add(&tables->strings, name.type),
        .ownership = name.ownership,
        .function = name.function,
        .flags = edge->flags | name.flags,
    };
    if (name.function) undead_table_module(tables, name.function);
    undead_section_add(writer, section, &entry);
  }
}

static uint32_t root_name(undead_writer *writer, const undead_facts *facts, uint32_t path) {
  char name[512];
  uint32_t item = writer->result->paths[path].item;
  if (item != UINT32_MAX && facts) return undead_section_loop_name(writer, facts, item);
  undead_name_root(writer->result, path, name, sizeof(name));
  return undead_string_add(&writer->tables.strings, name);
}

static void write_paths(undead_writer *writer, const undead_facts *facts) {
  const undead_scan_result *result = writer->result;
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_PATHS, sizeof(path_entry));
  for (uint32_t i = 0; i < result->path_count && !writer_has_failed(writer); i++) {
    show_progress("naming roots", i, result->path_count);
    const undead_path *path = &result->paths[i];
    path_entry entry = {
        .root_kind = path->root_kind,
        .root_name = root_name(writer, facts, i),
        .root_address = path->root_address,
        .thread = path->thread,
        .first_node = path->first_node,
        .first_step = path->first_step,
        .step_count = path->step_count,
        .end_node = path->end_node,
    };
    undead_section_add(writer, section, &entry);
  }
  undead_section_write(writer, UNDEAD_SECTION_STEPS, sizeof(uint32_t), result->steps, result->step_count * sizeof(uint32_t));
}

static void write_owners(undead_writer *writer) {
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_OWNERS, sizeof(owner_entry));
  for (uint32_t i = 0; i < writer->result->path_count; i++) {
    const undead_path *path = &writer->result->paths[i];
    owner_entry entry = {i, path->strong, path->counted, path->shared ? OWNER_SHARED : 0};
    if (path->strong) undead_section_add(writer, section, &entry);
  }
}

// A task that soon ends needs no owner.
static bool loops(const undead_scan_result *result, uint32_t task) {
  enum { MOST_FRAMES = 64 };
  uintptr_t frames[MOST_FRAMES];
  return undead_frames_loop(frames, undead_node_frames(result, task, frames, MOST_FRAMES));
}

static bool is_reported(const undead_writer *writer, const undead_suspect *suspect) {
  return suspect->kind != UNDEAD_SUSPECT_DEAD_OWNER || loops(writer->result, suspect->mechanism);
}

static void write_suspects(undead_writer *writer) {
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_SUSPECTS, sizeof(suspect_entry));
  for (uint32_t i = 0; i < writer->result->suspect_count; i++) {
    const undead_suspect *suspect = &writer->result->suspects[i];
    if (!is_reported(writer, suspect)) continue;
    suspect_entry entry = {suspect->kind, suspect->node, suspect->mechanism, suspect->path};
    undead_section_add(writer, section, &entry);
  }
}

typedef struct {
  undead_writer *writer;
  undead_section *section;
  uint32_t node;
} owner_field_writer;

static void write_owner_field(void *context, const undead_owner_field *field) {
  owner_field_writer *self = context;
  undead_string_table *strings = &self->writer->tables.strings;
  owner_field_entry entry = {self->node, undead_string_add(strings, field->owner), undead_string_add(strings, field->label),
                             undead_string_add(strings, field->type)};
  undead_section_add(self->writer, self->section, &entry);
}

static void write_owner_fields(undead_writer *writer) {
  owner_field_writer self = {.writer = writer};
  self.section = undead_section_begin(writer, UNDEAD_SECTION_OWNER_FIELDS, sizeof(owner_field_entry));
  for (uint32_t i = 0; i < writer->result->suspect_count && !writer_has_failed(writer); i++) {
    const undead_suspect *suspect = &writer->result->suspects[i];
    bool dead = suspect->kind == UNDEAD_SUSPECT_DEAD_OWNER || suspect->kind == UNDEAD_SUSPECT_DEAD_OWNER_OF_TIMER
      || suspect->kind == UNDEAD_SUSPECT_DEAD_OWNER_OF_OBSERVER;
    self.node = suspect->node;
    if (dead && is_reported(writer, suspect)) undead_each_owner_field(&writer->result->nodes[suspect->node], write_owner_field, &self);
  }
}

static void write_process(undead_writer *writer, const undead_check *check) {
  undead_process_facts facts = {.strings = &writer->tables.strings};
  undead_process_facts_collect(&facts, check->trigger, writer->result, check->facts);
  if (check->with_heap) undead_process_facts_add_heap(&facts, check->options.graph);
  if (check->counts_types) undead_process_facts_add_census(&facts);
  undead_section_write(writer, UNDEAD_SECTION_META, 8, facts.meta.bytes, facts.meta.size);
  undead_section_write(writer, UNDEAD_SECTION_COUNTERS, 16, facts.counters.bytes, facts.counters.size);
  undead_section_write(writer, UNDEAD_SECTION_NOTES, 4, facts.notes.bytes, facts.notes.size);
  if (facts.failed) writer->output->error = ENOMEM;
  undead_process_facts_free(&facts);
}

static void write_tables(undead_writer *writer) {
  const undead_tables *tables = &writer->tables;
  undead_section_write(writer, UNDEAD_SECTION_TYPES, sizeof(undead_type_entry), tables->types.bytes, tables->types.size);
  undead_section_write(writer, UNDEAD_SECTION_STACKS, sizeof(undead_stack_entry), tables->stacks.bytes, tables->stacks.size);
  undead_section_write(writer, UNDEAD_SECTION_FRAMES, sizeof(uint64_t), tables->frames.bytes, tables->frames.size);
  undead_section_write(writer, UNDEAD_SECTION_MODULES, sizeof(undead_module_entry), tables->modules.bytes, tables->modules.size);
  undead_section_write(writer, UNDEAD_SECTION_STRINGS, 1, tables->strings.bytes.bytes, tables->strings.bytes.size);
  undead_output_align(writer->output);
}

// The header comes last: a file without it is none.
static void write_header(undead_writer *writer) {
  undead_output *output = writer->output;
  undead_output_flush(output);
  undead_output_patch(output, writer->sections, sizeof(writer->sections), sizeof(file_header));
  file_header header = {
      .magic = {'U', 'N', 'D', 'E', 'A', 'D', '\r', '\n'},
      .version = 1,
      .header_size = sizeof(header),
      .file_size = undead_output_offset(output),
      .checksum = undead_output_checksum(output, sizeof(header)),
      .section_count = writer->section_count,
      .flags = writer->result->error == 0 && !undead_session_has_gaps() ? 1 : 0,
      .byte_order = 0x01020304,
      .pointer_size = sizeof(void *),
  };
  undead_output_patch(output, &header, sizeof(header), 0);
}

static const uint8_t room[sizeof(file_header) + UNDEAD_SECTION_COUNT * sizeof(undead_section)];

// The streams of a heap lie right behind the room, if they are complete.
static void begin_file(undead_output *output, const undead_graph *graph) {
  bool streamed = graph && graph->complete;
  if (graph && lseek(output->file, 0, SEEK_SET) < 0) output->error = errno;
  if (graph && !streamed && ftruncate(output->file, 0) != 0) output->error = errno;
  undead_output_write(output, room, sizeof(room));
  if (streamed) undead_output_skip(output, (graph->root_offset + graph->root_bytes + 7) & ~7ull);
}

uint64_t undead_snapshot_room(void) { return sizeof(room); }

void undead_snapshot_serialize(undead_output *output, const undead_check *check, const undead_scan_result *result) {
  // Big for a stack, but the check's thread has the room.
  undead_writer writer = {.output = output, .result = result};
  begin_file(output, check->options.graph);
  // The modules as they are now: names are looked up in them.
  undead_modules_refresh();
  write_nodes(&writer);
  write_edges(&writer);
  write_paths(&writer, check->facts);
  write_owners(&writer);
  write_suspects(&writer);
  write_owner_fields(&writer);
  undead_section_write_facts(&writer, check->facts);
  undead_heap_sections_write(&writer, check);
  undead_census_write(&writer, check);
  undead_samples_write(&writer);
  undead_refuted_write(&writer);
  write_process(&writer, check);
  undead_state_set_step("writing");
  write_tables(&writer);
  if (undead_tables_failed(&writer.tables) && output->error == 0) output->error = ENOMEM;
  write_header(&writer);
  undead_tables_free(&writer.tables);
}
