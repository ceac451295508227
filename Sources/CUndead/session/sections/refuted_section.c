#include "session/sections/snapshot_sections.h"
#include "record/claims.h"
#include "runtime/layout.h"

enum { REVIVED = 1 };

typedef struct {
  uint64_t address, size;
  uint32_t how, type, allocation, end;
  uint32_t called_by, refuted_by;   // numbers of checks
  uint32_t why, flags;              // of the node; REVIVED
  uint32_t strong, counted;
  uint32_t path, unused;
} refuted_entry;
_Static_assert(sizeof(refuted_entry) == 64, "the layout is a contract");

// Its memory is another block's by now: only what lies in the type is asked for.
static uint32_t type_name(undead_writer *writer, const undead_claim *claim) {
  undead_node node = {.size = claim->size, .isa = claim->isa, .kind = claim->kind, .state = UNDEAD_STATE_LIVE};
  const undead_scan_result result = {.nodes = &node, .node_count = 1};
  if (claim->state == UNDEAD_STATE_RAW) return undead_string_add(&writer->tables.strings, "raw memory");
  if (claim->kind == UNDEAD_KIND_CONTEXT) return undead_string_add(&writer->tables.strings, "closure context");
  if (claim->kind == UNDEAD_KIND_ERROR) return undead_string_add(&writer->tables.strings, "Error");
  char name[1024];
  undead_name_node(&result, 0, name, sizeof name);
  return undead_string_add(&writer->tables.strings, name);
}

static void write_refutation(undead_writer *writer, undead_section *section, const undead_refutation *refutation) {
  const undead_claim *claim = &refutation->claim;
  refuted_entry entry = {
    .address = claim->block, .size = claim->size, .how = refutation->how, .type = type_name(writer, claim),
    .allocation = undead_table_backtrace(&writer->tables, claim->allocation),
    .end = undead_table_backtrace(&writer->tables, refutation->end), .called_by = claim->check,
    .refuted_by = refutation->check, .why = claim->why, .flags = claim->revivable ? REVIVED : 0, .strong = claim->strong,
    .counted = claim->counted, .path = undead_string_add(&writer->tables.strings, refutation->path),
  };
  undead_section_add(writer, section, &entry);
}

void undead_refuted_write(undead_writer *writer) {
  if (!undead_claims_refutation(0)) return;
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_REFUTED, sizeof(refuted_entry));
  const undead_refutation *refutation;
  for (uint32_t i = 0; (refutation = undead_claims_refutation(i)); i++)
    if (refutation->complete) write_refutation(writer, section, refutation);
}
