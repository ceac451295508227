#include "session/sections/snapshot_sections.h"
#include "platform/memory/own_data.h"
#include "record/mode.h"
#include "record/sample.h"

typedef struct {
  uint32_t stack, unused;
  uint64_t samples, objects, bytes, sampled_bytes;
} allocation_entry;
_Static_assert(sizeof(allocation_entry) == 40, "the layout is a contract");

static uint64_t rounded(double value) { return value < 0x1p63 ? (uint64_t)(value + 0.5) : 1ull << 63; }

void undead_samples_write(undead_writer *writer) {
  if (undead_record_mode != UNDEAD_RECORD_SAMPLED) return;
  undead_section *section = undead_section_begin(writer, UNDEAD_SECTION_ALLOCATIONS, sizeof(allocation_entry));
  static undead_sample_allocations at;   // one snapshot is written at a time
  uint32_t end = 1;
  for (uint32_t number = 0; number < end; number++) {
    if (!undead_sample_allocations_at(number, &at, &end)) continue;
    allocation_entry entry = {
      .stack = undead_table_stack(&writer->tables, at.frames, at.count), .samples = at.samples,
      .objects = rounded(at.objects), .bytes = rounded(at.bytes), .sampled_bytes = at.sampled_bytes,
    };
    undead_section_add(writer, section, &entry);
  }
}
