#include "platform/maps.h"
#include "runtime/layout.h"
#include "session/process_facts.h"
#include "session/session.h"
#include "session/snapshot.h"
#include "session/snapshot_tables.h"
#include "session/state_file.h"
#include <errno.h>
#include <string.h>

enum {
  SECTION_STRINGS = 1, SECTION_META, SECTION_COUNTERS, SECTION_MODULES, SECTION_TYPES, SECTION_NODES, SECTION_EDGES,
  SECTION_STACKS, SECTION_FRAMES, SECTION_PATHS, SECTION_STEPS, SECTION_SUSPECTS, SECTION_NOTES, SECTION_END,
};
#define SECTION_COUNT (SECTION_END - 1)

typedef struct {
  char magic[8];
  uint32_t version, header_size;
  uint64_t file_size, checksum;
  uint32_t section_count, flags, byte_order, pointer_size;
  uint8_t reserved[16];
} file_header;
_Static_assert(sizeof(file_header) == 64, "the layout is a contract");

typedef struct {
  uint32_t kind, entry_size;
  uint64_t offset, bytes, entries;
} section_entry;
_Static_assert(sizeof(section_entry) == 32, "the layout is a contract");

typedef struct {
  uint64_t address, size;
  uint32_t type, stack, explanation, state, flags, unused;
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
  undead_output *output;
  const undead_scan_result *result;
  undead_tables tables;
  section_entry sections[SECTION_COUNT];
  uint32_t section_count;
} writer;

static section_entry *begin_section(writer *writer, uint32_t kind, uint32_t entry_size) {
  undead_output_align(writer->output);
  section_entry *section = &writer->sections[writer->section_count++];
  *section = (section_entry){.kind = kind, .entry_size = entry_size, .offset = undead_output_offset(writer->output)};
  return section;
}

static void write_entry(writer *writer, section_entry *section, const void *entry) {
  undead_output_write(writer->output, entry, section->entry_size);
  section->bytes += section->entry_size;
  section->entries++;
}

static void write_section(writer *writer, uint32_t kind, uint32_t entry_size, const void *entries, size_t bytes) {
  section_entry *section = begin_section(writer, kind, entry_size);
  section->bytes = bytes;
  section->entries = bytes / entry_size;
  undead_output_write(writer->output, entries, bytes);
}

static void show_progress(const char *step, uint32_t done, uint32_t all) {
  if (done == 0) undead_state_set_step(step);
  if (done % 1024 == 0) undead_state_set_progress(done, all);
}

static bool has_failed(const writer *writer) {
  return writer->output->error != 0 || undead_tables_failed(&writer->tables);
}

static void write_nodes(writer *writer) {
  const undead_scan_result *result = writer->result;
  undead_tables *tables = &writer->tables;
  section_entry *section = begin_section(writer, SECTION_NODES, sizeof(node_entry));
  for (uint32_t i = 0; i < result->node_count && !has_failed(writer); i++) {
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
    };
    write_entry(writer, section, &entry);
  }
}

static void write_edges(writer *writer) {
  const undead_scan_result *result = writer->result;
  undead_tables *tables = &writer->tables;
  section_entry *section = begin_section(writer, SECTION_EDGES, sizeof(edge_entry));
  undead_edge_name name;
  for (uint32_t i = 0; i < result->edge_count && !has_failed(writer); i++) {
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
    write_entry(writer, section, &entry);
  }
}

static void write_paths(writer *writer) {
  const undead_scan_result *result = writer->result;
  section_entry *section = begin_section(writer, SECTION_PATHS, sizeof(path_entry));
  for (uint32_t i = 0; i < result->path_count && !has_failed(writer); i++) {
    show_progress("naming roots", i, result->path_count);
    const undead_path *path = &result->paths[i];
    char name[512];
    undead_name_root(result, i, name, sizeof(name));
    path_entry entry = {
        .root_kind = path->root_kind,
        .root_name = undead_string_add(&writer->tables.strings, name),
        .root_address = path->root_address,
        .thread = path->thread,
        .first_node = path->first_node,
        .first_step = path->first_step,
        .step_count = path->step_count,
        .end_node = path->end_node,
    };
    write_entry(writer, section, &entry);
  }
  write_section(writer, SECTION_STEPS, sizeof(uint32_t), result->steps, result->step_count * sizeof(uint32_t));
}

static void write_suspects(writer *writer) {
  section_entry *section = begin_section(writer, SECTION_SUSPECTS, sizeof(suspect_entry));
  for (uint32_t i = 0; i < writer->result->suspect_count; i++) {
    const undead_suspect *suspect = &writer->result->suspects[i];
    suspect_entry entry = {suspect->kind, suspect->node, suspect->mechanism, suspect->path};
    write_entry(writer, section, &entry);
  }
}

static void write_facts(writer *writer, const undead_check *check) {
  undead_process_facts facts = {.strings = &writer->tables.strings};
  undead_process_facts_collect(&facts, check->trigger, writer->result);
  write_section(writer, SECTION_META, 8, facts.meta.bytes, facts.meta.size);
  write_section(writer, SECTION_COUNTERS, 16, facts.counters.bytes, facts.counters.size);
  write_section(writer, SECTION_NOTES, 4, facts.notes.bytes, facts.notes.size);
  if (facts.failed) writer->output->error = ENOMEM;
  undead_process_facts_free(&facts);
}

static void write_tables(writer *writer) {
  const undead_tables *tables = &writer->tables;
  write_section(writer, SECTION_TYPES, sizeof(undead_type_entry), tables->types.bytes, tables->types.size);
  write_section(writer, SECTION_STACKS, sizeof(undead_stack_entry), tables->stacks.bytes, tables->stacks.size);
  write_section(writer, SECTION_FRAMES, sizeof(uint64_t), tables->frames.bytes, tables->frames.size);
  write_section(writer, SECTION_MODULES, sizeof(undead_module_entry), tables->modules.bytes, tables->modules.size);
  write_section(writer, SECTION_STRINGS, 1, tables->strings.bytes.bytes, tables->strings.bytes.size);
  undead_output_align(writer->output);
}

// The header comes last: a file without it is none.
static void write_header(writer *writer) {
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

void undead_snapshot_serialize(undead_output *output, const undead_check *check, const undead_scan_result *result) {
  // Big for a stack, but the check's thread has the room.
  writer writer = {.output = output, .result = result};
  static const uint8_t room[sizeof(file_header) + SECTION_COUNT * sizeof(section_entry)];
  undead_output_write(output, room, sizeof(room));
  // The modules as they are now: names are looked up in them.
  undead_modules_refresh();
  write_nodes(&writer);
  write_edges(&writer);
  write_paths(&writer);
  write_suspects(&writer);
  write_facts(&writer, check);
  undead_state_set_step("writing");
  write_tables(&writer);
  if (undead_tables_failed(&writer.tables) && output->error == 0) output->error = ENOMEM;
  write_header(&writer);
  undead_tables_free(&writer.tables);
}
