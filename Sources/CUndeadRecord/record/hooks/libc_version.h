// What depends on the version of the C library that the program runs on.
#pragma once
#include <stdbool.h>
#include "platform/system/read_text.h"

// From 2.38 on aligned_alloc() refuses alignments that are no power of two (malloc/malloc.c: __libc_aligned_alloc); before, it was
// memalign(), which rounds them up. The new function has no second name, so the hook decides.
static inline bool undead_libc_refuses_alignments(const char *version) {
  const char *end;
  uint64_t major = undead_read_number(version, 10, &end), minor = *end == '.' ? undead_read_number(end + 1, 10, NULL) : 0;
  return major > 2 || (major == 2 && minor >= 38);
}
