// Names of addresses and addresses of names, from the symbol tables of the images' files. A file is mapped when it is first asked
// about, and must be the one that is loaded. Two indexes are built on demand: by address (a sorted array) and by the beginning of
// the name (a hash table).
#include "platform/images/exports.h"
#include "platform/images/c_library.h"
#include "platform/images/files.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/images/modules.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "platform/maps/segments.h"
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PART_SYMBOLS = 8192, HASHED_WORDS = 4, HASHED = HASHED_WORDS * 8 };

// The symbol table of one image, in its mapped file. Both indexes are built when they are first needed.
typedef struct {
  const undead_module *module;
  const char *file;          // NULL: the file cannot be used
  size_t file_size;
  const Elf64_Sym *symbols;
  size_t symbol_count;
  const char *strings;
  size_t strings_size;
  uint64_t *by_address;      // address in the file (upper half), index of the symbol (lower half), ascending
  size_t by_address_count;
  uint32_t *first_of_bucket; // of those whose names begin alike, the first symbol, which is never that of index 0; ascending
  uint32_t *next_in_bucket;  // for each symbol; 0: the last one
  size_t bucket_count;       // power of two
  undead_exports exports;
} symbol_table;

#define BESIDE (uintptr_t)65536

static symbol_table *tables;
static size_t table_count, table_capacity;

static bool in_file(const symbol_table *table, uint64_t offset, uint64_t size) {
  return offset <= table->file_size && size <= table->file_size - offset;
}

static const Elf64_Shdr *section_headers(const symbol_table *table, size_t *count) {
  const Elf64_Ehdr *header = (const void *)table->file;
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8) return NULL;
  if (!in_file(table, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr))) return NULL;
  *count = header->e_shnum;
  return (const void *)(table->file + header->e_shoff);
}

static bool reach_in_file(const void *table, uintptr_t address, size_t bytes) {
  return in_file(table, address - (uintptr_t)((const symbol_table *)table)->file, bytes);
}

// True if the file on disk is the one that was loaded: a rebuilt or updated one would give wrong names.
static bool is_loaded_file(const symbol_table *table) {
  undead_segments segments;
  if (!undead_segments_read(&segments, table->file, reach_in_file, table)) return false;
  char id[UNDEAD_BUILD_ID_TEXT];
  undead_segments_build_id(&segments, UNDEAD_NOTES_OF_FILE, (uintptr_t)table->file, reach_in_file, table, id);
  if (strcmp(id, table->module->build_id)) return false;
  // The first page of an image holds the headers as a rule, and these hold the size and place of everything else.
  const Elf64_Ehdr *header = (const void *)table->file;
  uintptr_t low = table->module->low;
  size_t bytes = segments.count * sizeof *segments.headers;
  if (!undead_is_readable(low, sizeof *header) || memcmp((void *)low, ELFMAG, SELFMAG)) return true;
  if (memcmp((void *)low, header, sizeof *header)) return false;
  return !undead_is_readable(low + header->e_phoff, bytes)
    || !memcmp((void *)(low + header->e_phoff), segments.headers, bytes);
}

static bool use_section(symbol_table *table, const Elf64_Shdr *sections, size_t count, uint32_t type) {
  for (size_t i = 0; i < count; i++) {
    const Elf64_Shdr *section = &sections[i];
    if (section->sh_type != type || section->sh_link >= count || section->sh_offset % 8) continue;
    const Elf64_Shdr *strings = &sections[section->sh_link];
    if (!in_file(table, section->sh_offset, section->sh_size)) continue;
    if (!in_file(table, strings->sh_offset, strings->sh_size) || !strings->sh_size) continue;
    if (table->file[strings->sh_offset + strings->sh_size - 1] != 0) continue;
    table->symbols = (const void *)(table->file + section->sh_offset);
    table->symbol_count = section->sh_size / sizeof(Elf64_Sym);
    table->strings = table->file + strings->sh_offset;
    table->strings_size = strings->sh_size;
    return table->symbol_count > 1 && table->symbol_count < UINT32_MAX;
  }
  return false;
}

static void open_file(symbol_table *table) {
  const undead_module *module = table->module;
  // The link leads to the program even if its file was deleted or replaced since.
  bool program = module == undead_module_at(0);
  char room[sizeof module->path];
  const char *path = program ? undead_program_file() : module->path;
  int descriptor = open(undead_file_at(module->low, path, room, sizeof room), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status;
  const void *file = NULL;
  // Not as memory of the program's, all of which the scan would read for references.
  if (undead_descriptor_status(descriptor, &status) && S_ISREG(status.st_mode) && status.st_size > 0)
    file = undead_map_file(descriptor, (size_t)status.st_size);
  close(descriptor);
  if (!file) return;
  table->file = file;
  table->file_size = (size_t)status.st_size;
  size_t count = 0;
  const Elf64_Shdr *sections = is_loaded_file(table) ? section_headers(table, &count) : NULL;
  if (sections && (use_section(table, sections, count, SHT_SYMTAB) || use_section(table, sections, count, SHT_DYNSYM))) {
    undead_exports_open(&table->exports, table->file, table->file_size, sections, count);
    return;
  }
  undead_unmap((void *)file, table->file_size);
  table->file = NULL;
  table->symbol_count = 0;
}

static symbol_table *table_of(const undead_module *module) {
  for (size_t i = 0; i < table_count; i++)
    if (tables[i].module == module) return &tables[i];
  if (table_count == table_capacity && !undead_grow(tables, table_capacity, 64)) return NULL;
  symbol_table *table = &tables[table_count++];
  memset(table, 0, sizeof *table);
  table->module = module;
  int saved = errno;
  open_file(table);
  errno = saved;
  return table;
}

static bool is_named_place(const symbol_table *table, const Elf64_Sym *symbol) {
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS && symbol->st_name != 0
    && symbol->st_name < table->strings_size
    && (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

// Thread-local variables have an offset, no address: they can only be asked for by name.
static bool is_thread_local(const symbol_table *table, const Elf64_Sym *symbol) {
  return ELF64_ST_TYPE(symbol->st_info) == STT_TLS && symbol->st_shndx != SHN_UNDEF && symbol->st_name != 0
    && symbol->st_name < table->strings_size;
}

// Of the beginning alone, eight characters at a time: names are long, and of a program with a static runtime there are tens of
// thousands.
static uint32_t hash_beginning(const char *name) {
  const uint64_t ones = 0x0101010101010101, mixer = 0x9E3779B97F4A7C15;
  uint64_t hash = 0;
  for (int i = 0; i < HASHED_WORDS; i++) {
    uint64_t word, ends;
    memcpy(&word, name + i * sizeof word, sizeof word);
    word = le64toh(word);
    ends = (word - ones) & ~word & ones << 7;   // the lowest bit stands in the first byte that is 0
    if (ends) word &= (ends & -ends) - 1;
    hash = (hash ^ word) * mixer;
    hash ^= hash >> 29;
    if (ends) break;
  }
  return (uint32_t)(hash >> 16);
}

static size_t bucket_of(const symbol_table *table, const char *name, bool may_be_short) {
  char padded[HASHED];
  if (may_be_short) name = strncpy(padded, name, sizeof padded);
  return hash_beginning(name) & (table->bucket_count - 1);
}

static size_t name_index_bytes(const symbol_table *table) {
  return (table->bucket_count + table->symbol_count) * sizeof(uint32_t);
}

static bool build_name_index(symbol_table *table) {
  table->bucket_count = 64;
  while (table->bucket_count < table->symbol_count / 4) table->bucket_count *= 2;
  uint32_t *first = undead_map(name_index_bytes(table));
  if (!first) return false;
  table->first_of_bucket = first;
  table->next_in_bucket = first + table->bucket_count;
  for (size_t i = table->symbol_count; i-- > 1;) {
    const Elf64_Sym *symbol = &table->symbols[i];
    if (!is_named_place(table, symbol) && !is_thread_local(table, symbol)) continue;
    bool at_end = symbol->st_name + HASHED > table->strings_size;
    size_t bucket = bucket_of(table, table->strings + symbol->st_name, at_end);
    table->next_in_bucket[i] = first[bucket];
    first[bucket] = (uint32_t)i;
  }
  return true;
}

static const Elf64_Sym *find_name(symbol_table *table, const char *name) {
  const Elf64_Sym *found = undead_exports_find(&table->exports, name);
  if (found || (!table->first_of_bucket && !build_name_index(table))) return found;
  for (uint32_t i = table->first_of_bucket[bucket_of(table, name, true)]; i; i = table->next_in_bucket[i])
    if (strcmp(table->strings + table->symbols[i].st_name, name) == 0) return &table->symbols[i];
  return NULL;
}

uintptr_t undead_symbol_address(const undead_module *module, const char *name, size_t *size) {
  symbol_table *table = module ? table_of(module) : NULL;
  const Elf64_Sym *symbol = table && table->symbol_count ? find_name(table, name) : NULL;
  if (!symbol) return 0;
  if (size) *size = symbol->st_size;
  return module->bias + symbol->st_value;
}

// The one among the symbols from `from` to `to`; NULL if it is not there.
static const Elf64_Sym *find_beside(const symbol_table *table, uint64_t place, const char *name, size_t from, size_t to) {
  for (size_t i = from; i < to; i++) {
    const Elf64_Sym *symbol = &table->symbols[i];
    if (symbol->st_value - place + BESIDE >= 2 * BESIDE || !is_named_place(table, symbol)) continue;
    if (strcmp(table->strings + symbol->st_name, name) == 0) return symbol;
  }
  return NULL;
}

uintptr_t undead_symbol_beside(const undead_module *module, uintptr_t place, const char *name, size_t *size) {
  symbol_table *table = module ? table_of(module) : NULL;
  const Elf64_Sym *found = NULL;
  // In parts that are let go: the whole table of a runtime would be the largest part of what a check takes.
  for (size_t from = 0, to; !found && table && from < table->symbol_count; from = to) {
    to = table->symbol_count - from < PART_SYMBOLS ? table->symbol_count : from + PART_SYMBOLS;
    found = find_beside(table, place - module->bias, name, from, to);
    undead_let_go_of_file(table->symbols + from, table->symbols + to);
  }
  if (!found) return undead_symbol_address(module, name, size);
  *size = found->st_size;
  return module->bias + found->st_value;
}

// Sorts by the upper half, which holds addresses: eight bits a pass, least significant first.
static uint64_t *sort_by_upper_half(uint64_t *keys, uint64_t *spare, size_t count) {
  for (int shift = 32; shift < 64; shift += 8) {
    size_t start[257] = {0};
    for (size_t i = 0; i < count; i++) start[(keys[i] >> shift & 255) + 1]++;
    for (int digit = 0; digit < 256; digit++) start[digit + 1] += start[digit];
    for (size_t i = 0; i < count; i++) spare[start[keys[i] >> shift & 255]++] = keys[i];
    uint64_t *sorted = spare;
    spare = keys;
    keys = sorted;
  }
  return keys;
}

static bool build_address_index(symbol_table *table) {
  size_t bytes = table->symbol_count * sizeof(uint64_t);
  uint64_t *keys = undead_map(bytes), *spare = undead_map(bytes);
  if (!keys || !spare) {
    if (keys) undead_unmap(keys, bytes);
    if (spare) undead_unmap(spare, bytes);
    return false;
  }
  size_t count = 0;
  uint64_t base = table->module->low - table->module->bias;
  for (size_t i = 0; i < table->symbol_count; i++) {
    const Elf64_Sym *symbol = &table->symbols[i];
    uint64_t address = symbol->st_value - base;
    if (is_named_place(table, symbol) && symbol->st_value >= base && address <= UINT32_MAX)
      keys[count++] = address << 32 | i;
  }
  table->by_address = sort_by_upper_half(keys, spare, count);
  table->by_address_count = count;
  undead_unmap(table->by_address == keys ? spare : keys, bytes);
  return true;
}

// The function or object that contains the address, NULL if it is not known.
static const Elf64_Sym *symbol_at(uintptr_t address, const symbol_table **found) {
  const undead_module *module = undead_module_of(address);
  symbol_table *table = module ? table_of(module) : NULL;
  if (!table || !table->symbol_count || (!table->by_address && !build_address_index(table))) return NULL;
  *found = table;
  uint64_t offset = address - module->low;
  size_t low = 0, high = table->by_address_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (table->by_address[middle] >> 32 <= offset) low = middle + 1;
    else high = middle;
  }
  // A local label without a size may lie inside of the symbol that is looked for.
  for (int tries = 0; low > 0 && tries < 16; tries++) {
    uint64_t key = table->by_address[--low];
    const Elf64_Sym *symbol = &table->symbols[key & UINT32_MAX];
    uint64_t distance = offset - (key >> 32);
    if (distance < symbol->st_size || (distance == 0 && !symbol->st_size)) return symbol;
  }
  return NULL;
}

const char *undead_symbol_name(uintptr_t address, uintptr_t *start) {
  const symbol_table *table = NULL;
  const Elf64_Sym *symbol = symbol_at(address, &table);
  if (start) *start = symbol ? table->module->bias + symbol->st_value : 0;
  return symbol ? table->strings + symbol->st_name : "";
}

int undead_symbol_visibility(uintptr_t address) {
  const symbol_table *table = NULL;
  const Elf64_Sym *symbol = symbol_at(address, &table);
  return symbol ? ELF64_ST_VISIBILITY(symbol->st_other) : STV_DEFAULT;
}

bool undead_symbols_each_variable(const undead_module *module, undead_variable_visitor visit, void *context) {
  symbol_table *table = module ? table_of(module) : NULL;
  for (size_t i = 0; table && i < table->symbol_count; i++) {
    const Elf64_Sym *symbol = &table->symbols[i];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !is_named_place(table, symbol)) continue;
    const char *name = table->strings + symbol->st_name;
    if (!visit(context, name, module->bias + symbol->st_value, symbol->st_size)) return false;
  }
  return true;
}

void undead_symbols_let_go(void) {
  for (size_t i = 0; i < table_count; i++)
    if (tables[i].file) undead_let_go_of_file(tables[i].file, tables[i].file + undead_page_from(tables[i].file_size));
}

void undead_symbols_forget(void) {
  for (size_t i = 0; i < table_count; i++) {
    symbol_table *table = &tables[i];
    if (table->file) undead_unmap((void *)table->file, table->file_size);
    if (table->by_address) undead_unmap(table->by_address, table->symbol_count * sizeof(uint64_t));
    if (table->first_of_bucket) undead_unmap(table->first_of_bucket, name_index_bytes(table));
  }
  table_count = 0;
  undead_modules_outdate();
}

// The tables point to the modules of the list before. To make them costs more than all else of a check, so they stay as
// long as the list does.
void undead_modules_refresh(void) {
  if (undead_modules_are_current()) return;
  undead_symbols_forget();
  undead_modules_list();
}
