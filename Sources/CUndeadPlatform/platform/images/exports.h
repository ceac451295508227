#pragma once
#include <elf.h>
#include <stddef.h>
#include <stdint.h>

// What a file exports, by the hash table that the file brings for the loader.
typedef struct {
  const Elf64_Sym *symbols;   // NULL: the file has no such table, or a damaged one
  size_t symbol_count;
  const char *strings;        // ends with a zero
  size_t strings_size;
  const uint32_t *buckets, *chains;
  uint32_t bucket_count, chain_count;
  uint32_t first;             // symbol of the first chain
} undead_exports;

// The tables lie in the mapped file of that size.
void undead_exports_open(
  undead_exports *exports, const char *file, size_t size, const Elf64_Shdr *sections, size_t section_count);

// The symbol of that name; NULL if the file exports none, or only a thread-local one.
const Elf64_Sym *undead_exports_find(const undead_exports *exports, const char *name);
