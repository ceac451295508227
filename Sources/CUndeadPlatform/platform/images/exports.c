// Exported symbols of an image's file by name, through its table of hashes (SHT_GNU_HASH): nothing is built or kept.
#include "platform/images/exports.h"
#include <stdbool.h>
#include <string.h>

static bool is_section_in_file(size_t file_size, const Elf64_Shdr *section) {
  return section->sh_offset % 8 == 0 && section->sh_offset <= file_size && section->sh_size <= file_size - section->sh_offset;
}

// Words: number of buckets, first symbol, words of 8 bytes of the filter, its shift; then filter, buckets and chains.
static bool use_hash(undead_exports *exports, const uint32_t *words, uint64_t count) {
  if (count < 4 || words[0] == 0) return false;
  uint64_t before = 4 + 2 * (uint64_t)words[2] + words[0];
  if (before > count) return false;
  exports->bucket_count = words[0];
  exports->first = words[1];
  exports->buckets = words + before - words[0];
  exports->chains = words + before;
  exports->chain_count = (uint32_t)(count - before);
  return true;
}

void undead_exports_open(
  undead_exports *exports, const char *file, size_t size, const Elf64_Shdr *sections, size_t section_count) {
  for (size_t i = 0; i < section_count; i++) {
    const Elf64_Shdr *hash = &sections[i];
    if (hash->sh_type != SHT_GNU_HASH || hash->sh_link >= section_count || !is_section_in_file(size, hash)) continue;
    const Elf64_Shdr *symbols = &sections[hash->sh_link];
    if (symbols->sh_type != SHT_DYNSYM || symbols->sh_link >= section_count || !is_section_in_file(size, symbols)) return;
    const Elf64_Shdr *strings = &sections[symbols->sh_link];
    if (strings->sh_offset > size || strings->sh_size > size - strings->sh_offset || !strings->sh_size) return;
    if (file[strings->sh_offset + strings->sh_size - 1] != 0) return;
    if (!use_hash(exports, (const void *)(file + hash->sh_offset), hash->sh_size / sizeof(uint32_t))) return;
    exports->symbol_count = symbols->sh_size / sizeof(Elf64_Sym);
    exports->strings = file + strings->sh_offset;
    exports->strings_size = strings->sh_size;
    exports->symbols = (const void *)(file + symbols->sh_offset);
    return;
  }
}

static bool is_of_name(const undead_exports *exports, const Elf64_Sym *symbol, const char *name) {
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && symbol->st_name < exports->strings_size
    && (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE || type == STT_GNU_IFUNC)
    && strcmp(exports->strings + symbol->st_name, name) == 0;
}

const Elf64_Sym *undead_exports_find(const undead_exports *exports, const char *name) {
  if (!exports->symbols) return NULL;
  uint32_t hash = 5381;
  for (const uint8_t *byte = (const uint8_t *)name; *byte; byte++) hash = hash * 33 + *byte;
  uint32_t i = exports->buckets[hash % exports->bucket_count];
  // Ascending: a damaged chain ends with the table.
  for (; i >= exports->first && i < exports->symbol_count && i - exports->first < exports->chain_count; i++) {
    uint32_t entry = exports->chains[i - exports->first];
    if ((entry | 1) == (hash | 1) && is_of_name(exports, &exports->symbols[i], name)) return &exports->symbols[i];
    if (entry & 1) break;
  }
  return NULL;
}
