#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#define _GNU_SOURCE
#include "zombies/log_modules.h"
#include "platform/memory.h"
#include "platform/modules.h"
#include "platform/own_data.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 4400, BUFFER_BYTES = 8192, PAGE = 4096, MAX_BUILD_ID = 20 };

// Lines of /proc/self/maps. Static: signal stacks are small, and there is one caller at a time.
static struct {
  int file;
  size_t used, at;
  char buffer[BUFFER_BYTES], line[LINE_BYTES];
} maps;

static bool next_line(void) {
  size_t length = 0;
  for (;;) {
    if (maps.at == maps.used) {
      ssize_t got;
      do got = read(maps.file, maps.buffer, sizeof maps.buffer);
      while (got < 0 && errno == EINTR);
      maps.used = got > 0 ? (size_t)got : 0;
      maps.at = 0;
      if (!maps.used) return false;
    }
    char character = maps.buffer[maps.at++];
    if (character == '\n') break;
    if (length + 1 < sizeof maps.line) maps.line[length++] = character;
  }
  maps.line[length] = 0;
  return true;
}

static const char *read_hex(const char *text, uint64_t *number) {
  for (*number = 0;; text++) {
    int digit = *text >= '0' && *text <= '9' ? *text - '0' : *text >= 'a' && *text <= 'f' ? *text - 'a' + 10 : -1;
    if (digit < 0) return text;
    *number = *number << 4 | (uint64_t)digit;
  }
}

typedef struct {
  uint64_t low, high, offset;
  bool readable;
  const char *path;
} mapping;

// "55d0c0a00000-55d0c0a01000 r--p 00000000 08:01 1234      /path"
static mapping parse_line(void) {
  mapping result;
  uint64_t unused;
  const char *at = read_hex(maps.line, &result.low);
  at = read_hex(at + (*at == '-'), &result.high);
  at += *at == ' ';
  result.readable = *at == 'r';
  at = read_hex(at + strcspn(at, " ") + 1, &result.offset);
  at += *at == ' ';
  at += strcspn(at, " ");
  at = read_hex(at + (*at == ' '), &unused);
  at += strcspn(at, " ");
  at += strspn(at, " ");
  result.path = at;
  return result;
}

typedef struct {
  uintptr_t low, high, bias;
  uint8_t build_id[MAX_BUILD_ID];
  size_t build_id_size;
} image;

static bool is_readable(uintptr_t address, size_t size) {
  for (uintptr_t page = address & ~(uintptr_t)(PAGE - 1); page < address + size; page += PAGE)
    if (!undead_page_is_readable(page)) return false;
  return true;
}

// An image whose headers are mapped at `base`.
static bool read_image(uintptr_t base, image *result) {
  const Elf64_Ehdr *header = (const void *)base;
  if (!is_readable(base, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG)) return false;
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return false;
  if (header->e_type != ET_DYN && header->e_type != ET_EXEC) return false;
  const Elf64_Phdr *segments = (const void *)(base + header->e_phoff);
  if (!is_readable((uintptr_t)segments, header->e_phnum * sizeof *segments)) return false;
  uintptr_t low = UINTPTR_MAX, high = 0;
  for (int i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type != PT_LOAD) continue;
    if (segments[i].p_vaddr < low) low = segments[i].p_vaddr;
    if (segments[i].p_vaddr + segments[i].p_memsz > high) high = segments[i].p_vaddr + segments[i].p_memsz;
  }
  if (low >= high) return false;
  *result = (image){.bias = base - (low & ~(uintptr_t)(PAGE - 1))};
  result->low = result->bias + low;
  result->high = result->bias + high;
  for (int i = 0; i < header->e_phnum && !result->build_id_size; i++) {
    uintptr_t notes = result->bias + segments[i].p_vaddr;
    size_t size;
    if (segments[i].p_type != PT_NOTE || !is_readable(notes, segments[i].p_memsz)) continue;
    const uint8_t *id = undead_build_id_note((const char *)notes, segments[i].p_memsz, &size);
    if (!id) continue;
    result->build_id_size = size < MAX_BUILD_ID ? size : MAX_BUILD_ID;
    memcpy(result->build_id, id, result->build_id_size);
  }
  return true;
}

// Returns the end of the record, NULL without room.
static char *write_image(char *at, const char *end, const image *found, const char *path) {
  static const char digits[] = "0123456789abcdef";
  size_t path_bytes = strlen(path) + 1, texts = path_bytes + found->build_id_size * 2 + 1;
  struct {
    uint64_t low, high, bias;
    uint32_t text_bytes, unused;
  } record = {found->low, found->high, found->bias, (uint32_t)texts, 0};
  size_t size = (sizeof record + texts + 7) & ~(size_t)7;
  if ((size_t)(end - at) < size) return NULL;
  memset(at, 0, size);
  memcpy(at, &record, sizeof record);
  memcpy(at + sizeof record, path, path_bytes);
  char *hex = at + sizeof record + path_bytes;
  for (size_t i = 0; i < found->build_id_size; i++) {
    *hex++ = digits[found->build_id[i] >> 4];
    *hex++ = digits[found->build_id[i] & 15];
  }
  return at + size;
}

bool undead_modules_list_has(const undead_module_list *list, uintptr_t address) {
  for (uint32_t i = 0; i < list->count; i++)
    if (address >= list->range[i].low && address < list->range[i].high) return true;
  return false;
}

size_t undead_modules_list_write(undead_module_list *list, char *start, size_t room, uint32_t *count) {
  char *at = start, *end = start + room;
  int saved = errno;
  maps.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  maps.used = maps.at = 0;
  list->count = 0;
  while (maps.file >= 0 && at && list->count < UNDEAD_MODULE_LIMIT && next_line()) {
    mapping mapped = parse_line();
    image found;
    // Files only: the kernel's own image has a name in brackets.
    if (mapped.offset != 0 || !mapped.readable || mapped.path[0] != '/') continue;
    if (undead_modules_list_has(list, mapped.low) || !read_image(mapped.low, &found)) continue;
    at = write_image(at, end, &found, mapped.path);
    list->range[list->count].low = found.low;
    list->range[list->count++].high = found.high;
  }
  if (maps.file >= 0) close(maps.file);
  list->known = true;
  *count = list->count;
  errno = saved;
  return at ? (size_t)(at - start) : 0;
}
#endif
