// The sections of a snapshot with the facts of the layers above.
#include "session/sections/snapshot_sections.h"
#include <string.h>

typedef struct {
  uint32_t kind, message, details, stack;
} diagnostic_entry;

typedef struct {
  uint32_t diagnostic, role, stack, unused;
} trace_entry;

typedef struct {
  uint32_t node, scope, stack, path, flags, unused;
} watched_entry;

typedef struct {
  uint64_t address;
  uint32_t node, loop, modes, kind, name, unused;
} item_entry;
_Static_assert(sizeof(item_entry) == 32, "the layout is a contract");

static uint32_t text(undead_writer *writer, const undead_facts *facts, uint32_t offset) {
  return undead_string_add(&writer->tables.strings, undead_facts_text(facts, offset));
}

static uint32_t stack(undead_writer *writer, const undead_facts *facts, uint32_t first, uint32_t count) {
  return undead_table_stack(&writer->tables, (const uintptr_t *)facts->frames.bytes + first, count);
}

static void write_diagnostics(undead_writer *writer, const undead_facts *facts) {
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_DIAGNOSTICS, sizeof(diagnostic_entry));
  const undead_diagnostic_fact *diagnostics = (const undead_diagnostic_fact *)facts->diagnostics.bytes;
  for (size_t i = 0; i < facts->diagnostics.size / sizeof(*diagnostics); i++) {
    const undead_diagnostic_fact *fact = &diagnostics[i];
    diagnostic_entry entry = {
        .kind = text(writer, facts, fact->kind),
        .message = text(writer, facts, fact->message),
        .details = text(writer, facts, fact->details),
        .stack = stack(writer, facts, fact->first_frame, fact->frame_count),
    };
    undead_section_add(writer, section, &entry);
  }
}

static void write_traces(undead_writer *writer, const undead_facts *facts) {
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_TRACES, sizeof(trace_entry));
  const undead_trace_fact *traces = (const undead_trace_fact *)facts->traces.bytes;
  for (size_t i = 0; i < facts->traces.size / sizeof(*traces); i++) {
    trace_entry entry = {
        .diagnostic = traces[i].diagnostic,
        .role = text(writer, facts, traces[i].role),
        .stack = stack(writer, facts, traces[i].first_frame, traces[i].frame_count),
    };
    undead_section_add(writer, section, &entry);
  }
}

// Of watched objects those that are still there, which an incomplete scan does not know.
static void write_watched(undead_writer *writer, const undead_facts *facts) {
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_WATCHED, sizeof(watched_entry));
  const undead_watched_fact *facts_of = (const undead_watched_fact *)facts->watched.bytes;
  for (uint32_t i = 0; i < writer->result->watched_count; i++) {
    const undead_watched *watched = &writer->result->watched[i];
    if (watched->node == UINT32_MAX) continue;
    watched_entry entry = {
        .node = watched->node,
        .scope = text(writer, facts, facts_of[i].scope),
        .stack = stack(writer, facts, facts_of[i].first_frame, facts_of[i].frame_count),
        .path = watched->path,
    };
    undead_section_add(writer, section, &entry);
  }
}

// Of the items those that a path leads through or that hold a suspect: the others explain nothing.
static void write_items(undead_writer *writer, const undead_facts *facts) {
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_LOOP_ITEMS, sizeof(item_entry));
  const undead_run_loop_fact *facts_of = (const undead_run_loop_fact *)facts->run_loop_items.bytes;
  const undead_loop_item *items = (const undead_loop_item *)facts->items.bytes;
  for (uint32_t i = 0; i < writer->result->item_count; i++) {
    if (writer->result->item_nodes[i] == UINT32_MAX) continue;
    item_entry entry = {
        .address = items[i].object,
        .node = writer->result->item_nodes[i],
        .loop = text(writer, facts, facts_of[i].loop_name),
        .modes = text(writer, facts, facts_of[i].modes),
        .kind = text(writer, facts, facts_of[i].kind),
        .name = text(writer, facts, facts_of[i].name),
    };
    undead_section_add(writer, section, &entry);
  }
}

uint32_t undead_section_loop_name(undead_writer *writer, const undead_facts *facts, uint32_t item) {
  return text(writer, facts, ((const undead_run_loop_fact *)facts->run_loop_items.bytes)[item].loop_name);
}

void undead_section_write_facts(undead_writer *writer, const undead_facts *facts) {
  static const undead_facts none;
  if (!facts) facts = &none;
  write_diagnostics(writer, facts);
  write_traces(writer, facts);
  write_watched(writer, facts);
  write_items(writer, facts);
  const char *json = undead_facts_text(facts, facts->run_loops);
  undead_section_write(writer, UNDEAD_SECTION_RUN_LOOPS, 1, json, strlen(json));
}
