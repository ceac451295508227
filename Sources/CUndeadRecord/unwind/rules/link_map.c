// Walks the loader's list of images in malloc and in signal handlers, while other threads may change it: dl_iterate_phdr
// takes a lock that the interrupted code may hold. So nothing of the list or of an image is believed to be there: it is copied
// by a system call that fails where nothing is. And an entry counts only if the image that it leads to names the same dynamic
// section as the entry does, which no half-written or reused entry does.
#include "unwind/rules/images.h"
#include "platform/memory/memory.h"
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

enum { MOST_IMAGES = 4096, HEADERS_AT_ONCE = 16, MOST_HEADERS = 256 };

// A sandbox may forbid the call. Then a page that is there is read, and only an image that is unloaded meanwhile can harm.
static bool copy(uintptr_t address, void *to, size_t size) {
  if (undead_copy_memory(address, to, size)) return true;
  if (!undead_page_is_readable(address) || !undead_page_is_readable(address + size - 1)) return false;
  memcpy(to, (const void *)address, size);
  return true;
}

typedef struct {
  uintptr_t low, high, dynamic, eh_frame_hdr;   // as the file has them; 0: none
} segments;

static void add_header(segments *all, const ElfW(Phdr) *header) {
  if (header->p_type == PT_DYNAMIC) all->dynamic = header->p_vaddr;
  if (header->p_type == PT_GNU_EH_FRAME) all->eh_frame_hdr = header->p_vaddr;
  if (header->p_type != PT_LOAD) return;
  if (header->p_vaddr < all->low) all->low = header->p_vaddr;
  if (header->p_vaddr + header->p_memsz > all->high) all->high = header->p_vaddr + header->p_memsz;
}

static bool read_headers(segments *all, uintptr_t at, size_t count) {
  ElfW(Phdr) headers[HEADERS_AT_ONCE];
  *all = (segments){.low = UINTPTR_MAX};
  for (size_t first = 0; first < count; first += HEADERS_AT_ONCE) {
    size_t some = count - first < HEADERS_AT_ONCE ? count - first : HEADERS_AT_ONCE;
    if (!copy(at + first * sizeof *headers, headers, some * sizeof *headers)) return false;
    for (size_t i = 0; i < some; i++) add_header(all, &headers[i]);
  }
  return all->low < all->high;
}

// Libraries start with their headers. A program may not, if it is not relocatable: the kernel says where its headers are.
static bool find_segments(segments *all, uintptr_t bias) {
  if (bias == 0) return read_headers(all, getauxval(AT_PHDR), getauxval(AT_PHNUM));
  ElfW(Ehdr) header;
  if (!copy(bias, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  bool is_plain = header.e_phentsize == sizeof(ElfW(Phdr)) && header.e_phnum <= MOST_HEADERS;
  return is_plain && read_headers(all, bias + header.e_phoff, header.e_phnum);
}

static bool read_entry(uintptr_t at, const struct link_map *entry, undead_image *image) {
  segments all;
  if (!find_segments(&all, entry->l_addr) || !all.dynamic) return false;
  // The loader does not relocate what it may not write to, which is nothing on these processors.
  if (entry->l_addr + all.dynamic != (uintptr_t)entry->l_ld) return false;
  const uint8_t *table = all.eh_frame_hdr ? (const uint8_t *)(entry->l_addr + all.eh_frame_hdr) : NULL;
  *image = (undead_image){entry->l_addr + all.low, entry->l_addr + all.high, table, (const void *)at};
  return true;
}

bool undead_link_map_read(const void *link_map, undead_image *image) {
  struct link_map entry;
  return copy((uintptr_t)link_map, &entry, sizeof entry) && read_entry((uintptr_t)link_map, &entry, image);
}

bool undead_link_map_each(undead_link_map_visitor visit, void *context) {
  uintptr_t at = (uintptr_t)__atomic_load_n(&_r_debug.r_map, __ATOMIC_ACQUIRE);
  for (int i = 0; at && i < MOST_IMAGES; i++) {
    struct link_map entry;
    undead_image image;
    if (!copy(at, &entry, sizeof entry)) return false;
    if (read_entry(at, &entry, &image) && visit(context, &image)) return true;
    at = (uintptr_t)entry.l_next;
  }
  return false;
}
