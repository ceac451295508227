// Thread-local storage of images that were there at the start.
#pragma once
#include <link.h>

// How far the image's storage reaches from the thread pointer; 0 if it has none there.
static inline size_t undead_static_storage_bytes(const struct dl_phdr_info *info, uintptr_t tp) {
  uintptr_t block = (uintptr_t)info->dlpi_tls_data;
  return block && block < tp ? tp - block : 0;   // below it, so that it ends where the last one begins
}

// The words of a block of storage: undead_thread_variable(tp, place) for near < place <= far, by 8.
static inline void undead_storage_places(uintptr_t tp, uintptr_t block, size_t bytes, size_t *near, size_t *far) {
  size_t words = (bytes + 7) & ~(size_t)7;
  *far = tp - block;
  *near = *far - words;
}
