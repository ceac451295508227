#include "session/sections/snapshot_sections.h"

undead_section *undead_section_begin(undead_writer *writer, uint32_t kind, uint32_t entry_size) {
  undead_output_align(writer->output);
  undead_section *section = &writer->sections[writer->section_count++];
  *section = (undead_section){.kind = kind, .entry_size = entry_size, .offset = undead_output_offset(writer->output)};
  return section;
}

void undead_section_add(undead_writer *writer, undead_section *section, const void *entry) {
  undead_output_write(writer->output, entry, section->entry_size);
  section->bytes += section->entry_size;
  section->entries++;
}

void undead_section_write(
    undead_writer *writer, uint32_t kind, uint32_t entry_size, const void *entries, size_t bytes) {
  undead_section *section = undead_section_begin(writer, kind, entry_size);
  section->bytes = bytes;
  section->entries = bytes / entry_size;
  undead_output_write(writer->output, entries, bytes);
}

void undead_section_place(undead_writer *writer, uint32_t kind, uint64_t offset, uint64_t bytes) {
  writer->sections[writer->section_count++] =
    (undead_section){.kind = kind, .entry_size = 1, .offset = offset, .bytes = bytes, .entries = bytes};
}
