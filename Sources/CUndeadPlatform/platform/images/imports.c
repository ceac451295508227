#include "platform/images/imports.h"
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CALL_SLOT = R_X86_64_JUMP_SLOT, ADDRESS_SLOT = R_X86_64_GLOB_DAT, DATA_WORD = R_X86_64_64 };

// What of an image's dynamic section is needed.
typedef struct {
  const struct dl_phdr_info *info;
  const char *strings;
  const ElfW(Sym) *symbols;
  const ElfW(Rela) *calls, *others;
  const uint32_t *hash;                      // of the symbols that the image defines (DT_GNU_HASH)
  const uint16_t *versions;                  // of the symbols; NULL: they have none
  size_t call_count, other_count, relative_count;
  uintptr_t read_only_low, read_only_high;   // made read-only after relocation
  bool is_open;                              // that part is writable now
} image;

static uintptr_t page_bytes(void) { return (uintptr_t)sysconf(_SC_PAGESIZE); }

bool undead_image_has(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t low = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && address - low < segment->p_memsz) return true;
  }
  return false;
}

static bool is_writable(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t low = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && segment->p_flags & PF_W && address >= low &&
        address - low + sizeof(uintptr_t) <= segment->p_memsz)
      return address % sizeof(uintptr_t) == 0;
  }
  return false;
}

// The loader relocates these addresses, but not those of images that it may not write to (the vDSO).
static uintptr_t address_in(const struct dl_phdr_info *info, uintptr_t address) {
  return undead_image_has(info, address) ? address : 0;
}

static void read_entry(image *image, const ElfW(Dyn) *entry) {
  uintptr_t address = address_in(image->info, entry->d_un.d_ptr);
  switch (entry->d_tag) {
    case DT_STRTAB: image->strings = (const char *)address; break;
    case DT_SYMTAB: image->symbols = (const ElfW(Sym) *)address; break;
    case DT_JMPREL: image->calls = (const ElfW(Rela) *)address; break;
    case DT_GNU_HASH: image->hash = (const uint32_t *)address; break;
    case DT_VERSYM: image->versions = (const uint16_t *)address; break;
    case DT_RELA: image->others = (const ElfW(Rela) *)address; break;
    case DT_PLTRELSZ: image->call_count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
    case DT_RELASZ: image->other_count = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
    case DT_RELACOUNT: image->relative_count = entry->d_un.d_val; break;
  }
}

static bool read_image(image *image, const struct dl_phdr_info *info) {
  memset(image, 0, sizeof *image);
  image->info = info;
  const ElfW(Dyn) *dynamic = NULL;
  uintptr_t page = page_bytes();
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t low = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)low;
    if (segment->p_type != PT_GNU_RELRO) continue;
    image->read_only_low = low & ~(page - 1);
    image->read_only_high = (low + segment->p_memsz) & ~(page - 1);
  }
  for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++) read_entry(image, entry);
  if (!image->calls) image->call_count = 0;
  if (!image->others || image->relative_count > image->other_count) image->other_count = image->relative_count = 0;
  return image->strings && image->symbols;
}

static bool is_read_only(const image *image, uintptr_t address) {
  return address - image->read_only_low < image->read_only_high - image->read_only_low;
}

static bool protect(const image *image, int protection) {
  return mprotect((void *)image->read_only_low, image->read_only_high - image->read_only_low, protection) == 0;
}

// Somebody else may have protected the rest of the data, too: a store that faults would end the program.
static bool store(image *image, uintptr_t address, uintptr_t value) {
  if (is_read_only(image, address)) {
    if (!image->is_open && !(image->is_open = protect(image, PROT_READ | PROT_WRITE))) return false;
  } else {
    uintptr_t page = page_bytes();
    if (mprotect((void *)(address & ~(page - 1)), page, PROT_READ | PROT_WRITE) != 0) return false;
  }
  __atomic_store_n((uintptr_t *)address, value, __ATOMIC_RELEASE);
  return true;
}

static void close_image(image *image) {
  if (image->is_open) protect(image, PROT_READ);
  image->is_open = false;
}

static const undead_import *import_of(const image *image, const ElfW(Rela) *relocation, const undead_import *imports,
                                      size_t count) {
  const char *name = image->strings + image->symbols[ELF64_R_SYM(relocation->r_info)].st_name;
  for (size_t i = 0; i < count; i++)
    if (name[0] == imports[i].name[0] && strcmp(name, imports[i].name) == 0) return &imports[i];
  return NULL;
}

// A call that was not made yet leads into the image's own table of stubs, and from there to what the loader finds first. An image
// that has a function of that name itself may have found its own.
static bool leads_to(const image *image, const undead_import *import, const ElfW(Rela) *relocation, uintptr_t value) {
  if (value == import->function) return true;
  const ElfW(Sym) *symbol = &image->symbols[ELF64_R_SYM(relocation->r_info)];
  bool is_own = symbol->st_shndx != SHN_UNDEF && value == image->info->dlpi_addr + symbol->st_value;
  bool is_foreign = !is_own || undead_image_has(image->info, import->function);
  return ELF64_R_TYPE(relocation->r_info) == CALL_SLOT && is_foreign && undead_image_has(image->info, value);
}

static bool change(image *image, const ElfW(Rela) *relocation, const undead_import *imports, size_t count, bool back) {
  uint64_t type = ELF64_R_TYPE(relocation->r_info);
  if (type != CALL_SLOT && type != ADDRESS_SLOT && type != DATA_WORD) return false;
  if (ELF64_R_SYM(relocation->r_info) == 0 || (type == DATA_WORD && relocation->r_addend != 0)) return false;
  const undead_import *import = import_of(image, relocation, imports, count);
  uintptr_t address = image->info->dlpi_addr + relocation->r_offset;
  if (!import || !is_writable(image->info, address)) return false;
  uintptr_t value = __atomic_load_n((uintptr_t *)address, __ATOMIC_ACQUIRE);
  if (back) return value == import->replacement && store(image, address, import->function);
  return leads_to(image, import, relocation, value) && store(image, address, import->replacement);
}

size_t undead_imports_change(const struct dl_phdr_info *info, const undead_import *imports, size_t count, bool back) {
  int saved = errno;
  size_t changed = 0;
  image image;
  if (read_image(&image, info)) {
    for (size_t i = 0; i < image.call_count; i++) changed += change(&image, &image.calls[i], imports, count, back);
    for (size_t i = image.relative_count; i < image.other_count; i++)
      changed += change(&image, &image.others[i], imports, count, back);
  }
  close_image(&image);
  errno = saved;
  return changed;
}

size_t undead_constants_change(const struct dl_phdr_info *info, const undead_import *imports, size_t count, bool back) {
  int saved = errno;
  size_t changed = 0;
  image image;
  read_image(&image, info);
  for (uintptr_t at = image.read_only_low; at < image.read_only_high; at += sizeof(uintptr_t)) {
    if (!is_writable(info, at)) continue;
    uintptr_t value = *(const uintptr_t *)at;
    for (size_t i = 0; i < count; i++)
      if (value == (back ? imports[i].replacement : imports[i].function))
        changed += store(&image, at, back ? imports[i].function : imports[i].replacement);
  }
  close_image(&image);
  errno = saved;
  return changed;
}

// The table: numbers of buckets, of the first symbol in it, of words of a filter, a shift; filter; buckets; chains of hashes
// whose lowest bit ends them.
static const ElfW(Sym) *defined_symbol(const image *image, const char *name, bool any_version) {
  enum { OLD_VERSION = 0x8000 };
  uint32_t hash = 5381;
  for (const unsigned char *at = (const unsigned char *)name; *at; at++) hash = hash * 33 + *at;
  const uint32_t *table = image->hash, buckets = table[0], first = table[1], filter_words = table[2];
  if (!buckets || !filter_words) return NULL;
  const ElfW(Addr) *filter = (const ElfW(Addr) *)(table + 4);
  ElfW(Addr) word = filter[hash / 64 % filter_words];
  if (!(word >> hash % 64 & word >> (hash >> table[3]) % 64 & 1)) return NULL;
  const uint32_t *bucket = (const uint32_t *)(filter + filter_words), *chains = bucket + buckets;
  uint32_t symbol = bucket[hash % buckets];
  if (symbol < first) return NULL;
  for (;; symbol++) {
    uint32_t found = chains[symbol - first];
    const ElfW(Sym) *entry = &image->symbols[symbol];
    bool is_old = image->versions && image->versions[symbol] & OLD_VERSION;
    bool counts = entry->st_shndx != SHN_UNDEF && (any_version || !is_old);
    if ((found | 1) == (hash | 1) && counts && !strcmp(image->strings + entry->st_name, name)) return entry;
    if (found & 1) return NULL;
  }
}

static bool defines(const image *image, const char *name) { return defined_symbol(image, name, true) != NULL; }

bool undead_image_defines(const struct dl_phdr_info *info, const char *name) {
  image image;
  return read_image(&image, info) && image.hash && defines(&image, name);
}

uintptr_t undead_image_symbol(const struct dl_phdr_info *info, const char *name, size_t *size) {
  image image;
  const ElfW(Sym) *symbol = read_image(&image, info) && image.hash ? defined_symbol(&image, name, false) : NULL;
  unsigned type = symbol ? ELF64_ST_TYPE(symbol->st_info) : STT_TLS;
  if (type == STT_TLS || type == STT_GNU_IFUNC) return 0;
  if (size) *size = symbol->st_size;
  return info->dlpi_addr + symbol->st_value;
}

static void visit_common(const image *user, const image *definer, const ElfW(Rela) *relocations, size_t count,
                         undead_import_visitor visit, void *context) {
  for (size_t i = 0; i < count; i++) {
    const ElfW(Sym) *symbol = &user->symbols[ELF64_R_SYM(relocations[i].r_info)];
    if (ELF64_R_SYM(relocations[i].r_info) == 0 || symbol->st_shndx != SHN_UNDEF) continue;
    const char *name = user->strings + symbol->st_name;
    if (defines(definer, name)) visit(context, name);
  }
}

bool undead_imports_between(const struct dl_phdr_info *user, const struct dl_phdr_info *definer,
                            undead_import_visitor visit, void *context) {
  image from, to;
  if (!read_image(&to, definer) || !to.hash) return false;
  if (!read_image(&from, user)) return true;
  visit_common(&from, &to, from.calls, from.call_count, visit, context);
  visit_common(&from, &to, from.others + from.relative_count, from.other_count - from.relative_count, visit, context);
  return true;
}
