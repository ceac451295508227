// Arenas form a ring, in which the main one, in libc's data, is one. It is found by its bins: each is empty, or its first and last
// chunk lead back to it. What stands before the bins of an arena is so long as makes it a ring.
//
// Who calls: heap.c, which takes nothing but a whole ring; the scan of a program that goes on, to which the main arena is enough.
#include "glibc/heap.h"
#include "glibc/layout.h"
#include "platform/maps/maps.h"

#define MOST_ARENAS 65536u

static bool leads_back(uintptr_t chunk, uintptr_t link, uintptr_t self) {
  return chunk % 16 == 0 && undead_is_readable(chunk, CHUNK_SMALLEST) && undead_glibc_word(chunk + link) == self;
}

static bool are_bins(uintptr_t bins) {
  for (uintptr_t i = 0; i < BINS; i++) {
    uintptr_t bin = bins + i * BIN_BYTES, self = bin - CHUNK_HEADER;
    uintptr_t first = undead_glibc_word(bin), last = undead_glibc_word(bin + 8);
    if (first == self && last == self) continue;
    if (!leads_back(first, CHUNK_HEADER + 8, self) || !leads_back(last, CHUNK_HEADER, self)) return false;
  }
  return true;
}

bool undead_glibc_is_arena(uintptr_t start, uintptr_t head) {
  return start % 16 == 0 && undead_is_readable(start, head + BINS_TO_END) && are_bins(start + head);
}

static uintptr_t find_head(uintptr_t bins) {
  const uintptr_t heads[] = {ARENA_HEAD, ARENA_HEAD_SINCE_2_43, ARENA_HEAD_UNTIL_2_26};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
    uintptr_t head = heads[i], main = bins - head, at = undead_glibc_word(bins + BINS_TO_NEXT);
    for (uint32_t count = 0; at != main && count < MOST_ARENAS && undead_glibc_is_arena(at, head); count++)
      at = undead_glibc_word(at + head + BINS_TO_NEXT);
    if (at == main) return head;
  }
  return 0;
}

bool undead_glibc_find_ring(undead_glibc_area data, undead_glibc_ring *ring) {
  *ring = (undead_glibc_ring){0};
  uintptr_t low = (data.low + 7) & ~(uintptr_t)7;
  for (uintptr_t bins = low + ARENA_HEAD_SINCE_2_43; bins + BINS_TO_END <= data.high; bins += 8) {
    if (!are_bins(bins)) continue;
    uintptr_t head = find_head(bins);
    if (head || !ring->main_bins) *ring = (undead_glibc_ring){bins, head};
    if (head) return true;
  }
  return false;
}
