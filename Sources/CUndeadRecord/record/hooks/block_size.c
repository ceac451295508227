// How large a block is, by the allocator that it is of.
#include "record/allocator.h"
#include "record/registry.h"
#include <malloc.h>

size_t undead_block_size(uintptr_t block) {
  // The chunk header may be damaged by an overflow of the block before: never believe more than an address space.
  size_t size = undead_allocator_detour && undead_allocator_is_other() ? undead_next.usable_size((void *)block)
                                                                        : malloc_usable_size((void *)block);
  return size < (1ull << UNDEAD_ADDRESS_BITS) - block ? size : 0;
}
