#include "platform/maps/segments.h"
#include "platform/memory/page.h"
#include <string.h>

undead_segments undead_segments_of(const Elf64_Phdr *headers, size_t count) {
  undead_segments segments = {headers, count, UINTPTR_MAX, 0};
  for (size_t i = 0; i < count; i++) {
    if (headers[i].p_type != PT_LOAD) continue;
    uintptr_t low = headers[i].p_vaddr, high = low + headers[i].p_memsz;
    if (low < segments.low) segments.low = low;
    if (high > segments.high) segments.high = high;
  }
  return segments;
}

bool undead_segments_read(undead_segments *segments, const void *start, undead_reach reach, const void *context) {
  const Elf64_Ehdr *header = start;
  uintptr_t at = (uintptr_t)start;
  if (!reach(context, at, sizeof *header)) return false;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64) return false;
  // Core files have segments, too.
  if (header->e_type != ET_DYN && header->e_type != ET_EXEC) return false;
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 || header->e_phoff > UINTPTR_MAX - at) return false;
  if (!reach(context, at + header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr))) return false;
  *segments = undead_segments_of((const void *)(at + header->e_phoff), header->e_phnum);
  return segments->low < segments->high;
}

uintptr_t undead_segments_bias(const undead_segments *segments, const void *start) {
  return (uintptr_t)start - undead_page_of(segments->low);
}

static const uint8_t *build_id_note(const char *notes, size_t size, size_t *length) {
  size_t offset = 0;
  while (size - offset >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    memcpy(&header, notes + offset, sizeof header);
    size_t name = offset + sizeof header;
    uint64_t body = name + (((uint64_t)header.n_namesz + 3) & ~3ull);
    uint64_t next = body + (((uint64_t)header.n_descsz + 3) & ~3ull);
    if (next > size) return NULL;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && !memcmp(notes + name, "GNU", 4)) {
      *length = header.n_descsz;
      return (const uint8_t *)notes + body;
    }
    offset = (size_t)next;
  }
  return NULL;
}

void undead_segments_build_id(
  const undead_segments *segments, undead_notes notes, uintptr_t base, undead_reach reach, const void *context,
  char text[UNDEAD_BUILD_ID_TEXT]) {
  static const char digits[] = "0123456789abcdef";
  const uint8_t *id = NULL;
  size_t length = 0;
  for (size_t i = 0; i < segments->count && !id; i++) {
    const Elf64_Phdr *header = &segments->headers[i];
    if (header->p_type != PT_NOTE) continue;
    bool of_file = notes == UNDEAD_NOTES_OF_FILE;
    uintptr_t at = base + (of_file ? header->p_offset : header->p_vaddr);
    size_t bytes = of_file ? header->p_filesz : header->p_memsz;
    if (!reach || reach(context, at, bytes)) id = build_id_note((const char *)at, bytes, &length);
  }
  size_t most = (UNDEAD_BUILD_ID_TEXT - 1) / 2, count = length < most ? length : most;
  for (size_t i = 0; i < count; i++) {
    text[2 * i] = digits[id[i] >> 4];
    text[2 * i + 1] = digits[id[i] & 15];
  }
  text[2 * count] = 0;
}
