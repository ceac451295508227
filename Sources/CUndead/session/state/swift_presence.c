#include "session/state/process.h"
#include "platform/images/files.h"
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

static int is_swift_core(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  return info->dlpi_name && strstr(info->dlpi_name, "libswiftCore.so") != NULL;
}

static bool read_all(int file, void *buffer, size_t size, uint64_t offset) {
  return pread(file, buffer, size, (off_t)offset) == (ssize_t)size;
}

// Swift's compiler emits sections whose names begin with `swift5_`; an executable without section names has none.
static bool has_swift_section(int file) {
  ElfW(Ehdr) header;
  ElfW(Shdr) names;
  char text[4096];
  if (!read_all(file, &header, sizeof(header), 0) || header.e_shentsize != sizeof(names)) return false;
  uint64_t at = header.e_shoff + (uint64_t)header.e_shstrndx * sizeof(names);
  if (header.e_shoff == 0 || !read_all(file, &names, sizeof(names), at)) return false;
  size_t size = names.sh_size < sizeof(text) ? names.sh_size : sizeof(text);
  return read_all(file, text, size, names.sh_offset) && memmem(text, size, "swift5_", strlen("swift5_")) != NULL;
}

bool undead_swift_is_present(void) {
  if (dl_iterate_phdr(is_swift_core, NULL)) return true;
  int file = open(undead_program_file(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool found = has_swift_section(file);
  close(file);
  return found;
}
