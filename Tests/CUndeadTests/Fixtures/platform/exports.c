// exports LIBRARY: each symbol that the library exports is found by its name, others are not, and no damage of the tables
// leads out of them: the file is mapped with nothing behind it.
#include "platform/images/exports.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *map(const char *path, size_t *size) {
  int file = open(path, O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status)) exit(2);
  *size = (size_t)status.st_size;
  size_t pages = (*size + 4095) & ~(size_t)4095;
  char *room = mmap(NULL, pages + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // Ends with its last page: what is behind cannot be read.
  return mmap(room, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
}

static undead_exports open_exports(const char *file, size_t size) {
  const Elf64_Ehdr *header = (const void *)file;
  undead_exports exports = {0};
  undead_exports_open(&exports, file, size, (const void *)(file + header->e_shoff), header->e_shnum);
  return exports;
}

static bool is_place(const Elf64_Sym *symbol) {
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && type != STT_TLS && type != STT_SECTION
    && type != STT_FILE;
}

static int look_for_each(const undead_exports *exports) {
  size_t found = 0;
  for (size_t i = exports->first; i < exports->symbol_count; i++) {
    const Elf64_Sym *symbol = &exports->symbols[i];
    const char *name = exports->strings + symbol->st_name;
    const Elf64_Sym *is = undead_exports_find(exports, name);
    if (is_place(symbol) && (!is || strcmp(exports->strings + is->st_name, name) || is > symbol)) {
      printf("%s is not found\n", name);
      return 1;
    }
    found += is != NULL;
  }
  char other[] = "no_such_name_00";
  for (int i = 0; i < 26 * 26; i++) {
    other[13] = (char)('a' + i / 26);
    other[14] = (char)('a' + i % 26);
    if (undead_exports_find(exports, other)) return 1;
  }
  printf("%zu found\n", found);
  return found < 100;
}

static uint32_t random_word(void) {
  uint32_t word = (uint32_t)random() << 16 ^ (uint32_t)random();
  return word >> random() % 32;
}

static void damage(char *file, size_t size) {
  const Elf64_Ehdr *header = (const void *)file;
  Elf64_Shdr *sections = (void *)(file + header->e_shoff);
  for (int round = 0; round < 20000; round++) {
    Elf64_Shdr *hash = NULL;
    for (size_t i = 0; i < header->e_shnum; i++)
      if (sections[i].sh_type == SHT_GNU_HASH) hash = &sections[i];
    Elf64_Shdr *symbols = &sections[hash->sh_link];
    Elf64_Shdr *strings = &sections[symbols->sh_link];
    uint64_t *fields[] = {&hash->sh_size, &symbols->sh_size, &strings->sh_size, &hash->sh_offset, &symbols->sh_offset, &strings->sh_offset};
    uint64_t *field = fields[random() % 6], is = *field;
    uint32_t *words = (uint32_t *)(file + hash->sh_offset), place = (uint32_t)(random() % (round & 1 ? 4 : hash->sh_size / 4));
    uint32_t word = words[place];
    if (round & 2) *field = random_word();
    words[place] = random_word();
    undead_exports exports = open_exports(file, size);
    for (int i = 0; i < 20; i++) undead_exports_find(&exports, (char[]){(char)('a' + i), (char)('a' + round % 26), 0});
    undead_exports_find(&exports, "swift_retain");
    words[place] = word;
    *field = is;
  }
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  size_t size;
  char *file = map(arguments[1], &size);
  undead_exports exports = open_exports(file, size);
  if (!exports.symbols || look_for_each(&exports)) return 1;
  srandom(1);
  damage(file, size);
  puts("done");
  return 0;
}
