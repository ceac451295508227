// The tables of a snapshot that its nodes and edges refer to: texts, types, stacks and modules, each entry once.
#pragma once
#include "scan/scan.h"
#include "session/buffers/buffers.h"

#pragma GCC visibility push(hidden)

typedef struct {
  uint64_t isa;
  uint32_t name, kind, flags, unused;
} undead_type_entry;

typedef struct {
  uint32_t first_frame, frame_count;
} undead_stack_entry;

typedef struct {
  uint64_t low, high, bias;
  uint32_t path, build_id, flags, unused;
} undead_module_entry;

typedef struct {
  undead_string_table strings;
  undead_vector types, stacks, frames, modules;
  undead_index_map type_indices, stack_indices, module_indices, name_of_isa;
  uint64_t last_low, last_high;   // module of the last address that was asked for
  bool failed;
} undead_tables;

// Index in TYPES of the type of a node.
uint32_t undead_table_type(undead_tables *tables, const undead_scan_result *result, uint32_t node);
// Index in STACKS of a stored backtrace, UNDEAD_NO_INDEX if there is none.
uint32_t undead_table_backtrace(undead_tables *tables, uint32_t backtrace);
// Index in STACKS of the frames that explain a node, UNDEAD_NO_INDEX if there are none.
uint32_t undead_table_explanation(undead_tables *tables, const undead_scan_result *result, uint32_t node);
// Index in STACKS of these return addresses, UNDEAD_NO_INDEX if there are none.
uint32_t undead_table_stack(undead_tables *tables, const uintptr_t *frames, uint32_t count);
// Makes sure that the module of a code address is in MODULES.
void undead_table_module(undead_tables *tables, uintptr_t address);

bool undead_tables_failed(const undead_tables *tables);
void undead_tables_free(undead_tables *tables);

#pragma GCC visibility pop
