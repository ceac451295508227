// Memory for copies of what cannot be read where it lies. It only grows, and is let go as a whole at the end of the scan.
#include "scan/roots/roots.h"
#include "platform/memory/memory.h"
#include "platform/processor/processor.h"
#include <fcntl.h>

#define PART_BYTES (64ull << 20)
#define PART_HEADER 4096u

struct undead_copy_part {
  undead_copy_part *next;
  size_t bytes, used;
};

static undead_copy_part *part_for(undead_copies *copies, size_t bytes) {
  undead_copy_part *last = copies->parts;
  if (last && last->bytes - last->used >= bytes) return last;
  size_t size = bytes + PART_HEADER > PART_BYTES ? bytes + PART_HEADER : PART_BYTES;
  undead_copy_part *part = undead_map(size);
  if (!part) return NULL;
  *part = (undead_copy_part){last, size, PART_HEADER};
  return copies->parts = part;
}

uintptr_t undead_copies_room(undead_copies *copies, size_t bytes) {
  undead_copy_part *part = part_for(copies, bytes);
  if (!part) copies->no_memory = true;
  if (part) part->used += (bytes + 7) & ~7ul;
  return part ? (uintptr_t)part + part->used - ((bytes + 7) & ~7ul) : 0;
}

uintptr_t undead_copies_take(undead_copies *copies, uintptr_t low, uintptr_t high, size_t *size) {
  if (!copies->opened) {
    copies->opened = true;
    // Reading by this way asks neither for the protection of the pages nor for a protection key.
    copies->memory = undead_raw4(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDONLY | O_CLOEXEC, 0);
  }
  undead_copy_part *part = part_for(copies, high - low);
  if (!part) copies->no_memory = true;
  if (!part || copies->memory < 0) return 0;
  uintptr_t to = (uintptr_t)part + part->used;
  *size = 0;
  for (long got; *size < high - low; *size += (size_t)got) {
    got = undead_raw4(SYS_pread64, copies->memory, (long)(to + *size), (long)(high - low - *size), (long)(low + *size));
    if (got <= 0) break;
  }
  part->used += *size;
  copies->bytes += *size;
  return *size ? to : 0;
}

void undead_copies_end(undead_copies *copies) {
  if (copies->opened && copies->memory >= 0) undead_raw3(SYS_close, copies->memory, 0, 0);
  copies->opened = false;
}

void undead_copies_close(undead_copies *copies) {
  for (undead_copy_part *part = copies->parts, *next; part; part = next) {
    next = part->next;
    undead_unmap(part, part->bytes);
  }
  *copies = (undead_copies){0};
}
