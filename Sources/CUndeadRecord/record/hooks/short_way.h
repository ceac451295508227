// malloc's short ways, one function for each, for small blocks of a thread that is in no other hook. What is rare is jumped
// to and begins anew at the place of the frame: so these functions save no registers for it.
#pragma once
#include "record/avoid.h"
#include "record/gate.h"
#include "record/hooks/note_block.h"
#include "record/way/thread_cache.h"
#include "record/way.h"
#include "unwind/backtrace.h"
#include "unwind/store/store.h"

extern void *__libc_malloc(size_t size);

// A jump: what is jumped to sees the hook's own caller, and the hook saves no registers for it.
#define JUMP __attribute__((musttail)) return

// What is jumped to; its argument is malloc's, or a block. Without builtins no loop becomes a call of memset.
#define AT_ITS_PLACE static __attribute__((noinline, no_builtin))

AT_ITS_PLACE void *wait_at_gate(size_t block) {
  undead_gate_wait();
  return (void *)block;
}

// Leaves the hook, and the function.
#define LEAVE_WITH(block)                                                       \
  do {                                                                          \
    if (UNLIKELY(undead_hook_leave_sees_gate())) JUMP wait_at_gate((size_t)(block)); \
    return (block);                                                             \
  } while (0)

// In a hook. What is kept of the dead goes before the living get no memory.
static __attribute__((noinline)) bool frees_kept(size_t size) {
  undead_free_kept_function function = undead_free_kept;
  return function && function(size);
}

UNDEAD_INLINE void *malloc_of_glibc(size_t size) {
  void *block = __libc_malloc(size);
  return LIKELY(block) || !frees_kept(size) ? block : __libc_malloc(size);
}

AT_ITS_PLACE void *finish_block(size_t at) {
  undead_hook_enter_first();
  void *block = (void *)at;
  set_word(block, undead_backtrace_none | undead_registry_own_bit);
  clear_new(block);
  LEAVE_WITH(block);
}

AT_ITS_PLACE void *block_of_glibc(size_t size) {
  undead_hook_enter_first();
  void *block = malloc_of_glibc(size);
  if (LIKELY(block)) {
    set_word(block, undead_backtrace_none | undead_registry_own_bit);
    clear_new(block);
  }
  LEAVE_WITH(block);
}

// Nothing is recorded, but blocks are counted: what that costs is saved where glibc need not be called.
UNDEAD_INLINE void *take_unrecorded(size_t size) {
  void *block = LIKELY(size <= LARGEST_CACHED_BLOCK) ? undead_cache_take(size) : NULL;
  if (LIKELY(block)) ((uintptr_t *)block)[1] = 0;   // the key, as glibc does
  return block;
}

// Blocks without backtraces.
AT_ITS_PLACE void *malloc_bare(size_t size) {
  undead_hook_enter_first();
  void *block = undead_cache_take(size);
  if (UNLIKELY(!block)) JUMP block_of_glibc(size);
  uint32_t *slot = slot_if_touched(block);
  size_t chunk = undead_cache_chunk(size);
  if (UNLIKELY(!slot) || UNLIKELY(chunk > LARGEST_CLEARED_INLINE)) JUMP finish_block((size_t)block);
  __atomic_store_n(slot, undead_backtrace_none | undead_registry_own_bit, __ATOMIC_RELEASE);
  clear_small(block, chunk);
  LEAVE_WITH(block);
}

UNDEAD_INLINE uint32_t capture_caller(const hook_frame *frame) {
  return undead_backtrace_capture(frame->return_address, (uintptr_t)(frame + 1), frame->saved_frame_pointer);
}

// Blocks with backtraces. The block comes first: the processor waits for its memory while the stack is looked at.
AT_ITS_PLACE void *malloc_traced(size_t size) {
  undead_hook_enter_first();
  void *block = undead_cache_take(size);
  if (UNLIKELY(!block)) block = malloc_of_glibc(size);
  if (LIKELY(block)) {
    set_word(block, capture_caller(HOOK_FRAME) | undead_registry_own_bit);
    clear_new(block);
  }
  LEAVE_WITH(block);
}

static uint32_t add_extras(uint32_t word, const hook_frame *frame);
static void *elsewhere(void *block, size_t alignment, size_t size);

// Those that have extras, with a backtrace or without. Here that comes first, as in test programs the same thread checks:
// what is called for it would leave the block's address on the stack, where it may be taken for a reference.
AT_ITS_PLACE void *malloc_with_extras(size_t size) {
  undead_hook_enter_first();
  uint32_t word = undead_way & UNDEAD_WAY_STACKS ? capture_caller(HOOK_FRAME) : undead_backtrace_none;
  word = add_extras(word, HOOK_FRAME) | undead_registry_own_bit;
  void *block = undead_cache_take(size);
  if (UNLIKELY(!block)) block = malloc_of_glibc(size);
  if (undead_avoids_addresses && LIKELY(block) && UNLIKELY(undead_avoid_may_cover(block, usable_size(block))))
    block = elsewhere(block, 16, size);
  if (LIKELY(block)) {
    set_word(block, word);
    clear_new(block);
  }
  LEAVE_WITH(block);
}

AT_ITS_PLACE void *finish_sampled(size_t at) {
  undead_hook_enter_first();
  record_sampled_bytes((void *)at, usable_size((void *)at), HOOK_FRAME);
  LEAVE_WITH((void *)at);
}

AT_ITS_PLACE void *sampled_of_glibc(size_t size) {
  undead_hook_enter_first();
  void *block = malloc_of_glibc(size);
  if (LIKELY(block)) {
    clear_start(block);
    record_sampled(block, size, HOOK_FRAME);
  }
  LEAVE_WITH(block);
}

AT_ITS_PLACE void *malloc_lean(size_t size) {
  undead_hook_enter_first();
  void *block = undead_cache_take(size);
  if (UNLIKELY(!block)) JUMP sampled_of_glibc(size);
  clear_start(block);
  undead_leaf *leaf = leaf_of(block);
  int64_t left = undead_thread.sample_left - (int64_t)sampled_size(block, size);
  if (UNLIKELY(!leaf) || UNLIKELY(left < 0)) JUMP finish_sampled((size_t)block);
  undead_thread.sample_left = left;
  __atomic_store_n(undead_sparse_at(leaf, (uintptr_t)block), undead_sparse_new | undead_sparse_place((uintptr_t)block),
                   __ATOMIC_RELEASE);
  LEAVE_WITH(block);
}
