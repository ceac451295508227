#include "record/allocator.h"
#include "platform/memory/own_data.h"
#include "record/block_source.h"
#include "record/way/thread_cache.h"

extern void *__libc_malloc(size_t size);

void *undead_allocator_take(size_t size) { return __libc_malloc(size); }

void undead_allocator_give(void *block) {
  if (!undead_cache_give(block)) undead_allocator_free(block);
}
