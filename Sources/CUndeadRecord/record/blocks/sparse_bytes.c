// The bytes of one leaf, in groups: most are zeros, and eight are read at once.
#include "record/sparse.h"
#include "platform/memory/own_data.h"

uint8_t undead_sparse_new;
bool undead_sparse_expanded;

#define GROUP_BYTES (1u << (UNDEAD_TOUCH_SHIFT - 1))

bool undead_sparse_visit(const undead_leaf *leaf, uintptr_t base, undead_block_visitor visit, void *context) {
  for (uint64_t first = 0; first < sizeof leaf->sparse; first += 8) {
    if (!*(const undead_sparse_eight *)&leaf->sparse[first]) continue;
    for (uint64_t at = first; at < first + 8; at++) {
      uint8_t byte = __atomic_load_n(&leaf->sparse[at], __ATOMIC_RELAXED);
      uint32_t word = UNDEAD_BACKTRACE_NONE;
      if (byte && !visit(context, undead_sparse_block_at(base, at, byte), &word)) return false;
    }
  }
  return true;
}

bool undead_sparse_group_used(const undead_leaf *leaf, uint64_t group) {
  const undead_sparse_eight *bytes = (const undead_sparse_eight *)&leaf->sparse[group * GROUP_BYTES];
  uint64_t all = 0;
  for (uint32_t i = 0; i < GROUP_BYTES / 8; i++) all |= bytes[i];
  return all != 0;
}

void undead_sparse_inherit(undead_leaf *leaf) {
  for (uint64_t first = 0; first < sizeof leaf->sparse; first += 8) {
    undead_sparse_eight *bytes = (undead_sparse_eight *)&leaf->sparse[first];
    if (*bytes & 0x8080808080808080u) *bytes &= 0x7F7F7F7F7F7F7F7Fu;
  }
}
