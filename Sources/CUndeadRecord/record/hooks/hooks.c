// The allocator's public functions, over glibc's own under their __libc_ names: no dlsym, so that they work from the
// very first allocation. Each block that they hand out gets a word in the registry, each one they take back loses it.
#include "record/avoid.h"
#include "platform/memory/own_data.h"
#include "platform/memory/page.h"
#include "record/block_source.h"
#include "record/free_filter.h"
#include "record/gate.h"
#include "record/mode.h"
#include "record/registry.h"
#include "record/sample.h"
#include "record/scopes.h"
#include "record/sparse.h"
#include "record/allocator.h"
#include "record/way/hook_frame.h"
#include "record/hooks/libc_version.h"
#include "record/hooks/new_block.h"
#include "record/hooks/note_block.h"
#include "record/hooks/short_way.h"
#include "record/way/thread_cache.h"
#include "record/way.h"
#include "unwind/async_callers.h"
#include "unwind/backtrace.h"
#include "unwind/store/store.h"
#include <errno.h>
#include <gnu/libc-version.h>

#ifdef UNDEAD_SANITIZER
const bool undead_hooks_available = false;
void undead_avoid_no_longer(void) {}
#else
const bool undead_hooks_available = true;

#define UNDEAD_HOOK __attribute__((visibility("default"), noinline, no_builtin))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void *__libc_valloc(size_t size);
extern void *__libc_pvalloc(size_t size);
extern void __libc_free(void *block);

static __attribute__((noinline)) uint32_t add_extras(uint32_t word, const hook_frame *frame) {
  if (undead_capture_watcher) undead_capture_watcher(word, frame->return_address);
  if (undead_async_wanted && undead_record_mode >= UNDEAD_RECORD_BACKTRACES)
    word = undead_async_tag(word, frame->return_address, (uintptr_t)(frame + 1), frame->saved_frame_pointer);
  return undead_open_scopes ? undead_scope_tag(word) : word;
}

// Registers a new block; false if recording is off or the thread is the tool's own.
UNDEAD_INLINE bool record(void *block, const hook_frame *frame) {
  int32_t mode = undead_record_mode;
  if (UNLIKELY(mode <= UNDEAD_RECORD_OFF)) {
    mode = undead_record_decide();
    if (mode == UNDEAD_RECORD_OFF) return false;
  }
  if (UNLIKELY(undead_thread.ignored)) return false;
  uint32_t word = undead_backtrace_none;
  if (LIKELY(mode >= UNDEAD_RECORD_BACKTRACES)) {
    word = undead_backtrace_capture(frame->return_address, (uintptr_t)(frame + 1), frame->saved_frame_pointer);
  }
  if (UNLIKELY(undead_way & UNDEAD_WAY_EXTRAS)) word = add_extras(word, frame);
  set_word(block, word | undead_registry_own_bit);
  return true;
}

// Registers a new block; true if it is to be cleared. What the tool's own threads leave behind in the program (the runtime's
// caches, above all) is not registered, and is a root like all memory that nobody knows.
UNDEAD_INLINE bool begin(void *block, const hook_frame *frame) {
  return LIKELY(record(block, frame)) || undead_thread.ignored;
}

// Takes the block out of the bytes that blocks have while backtraces are sampled.
static __attribute__((noinline)) void forget_sparse(undead_leaf *leaf, void *block) {
  if (!undead_sparse_holds(leaf, (uintptr_t)block)) return;
  uint8_t *byte = undead_sparse_at(leaf, (uintptr_t)block);
  if (*byte & UNDEAD_SPARSE_SAMPLED) undead_sample_drop((uintptr_t)block);
  __atomic_store_n(byte, 0, __ATOMIC_RELEASE);
}

// Takes the block out of the registry; returns its word, 0 if it was unknown.
UNDEAD_INLINE uint32_t forget(void *block) {
  undead_leaf *leaf = leaf_of(block);
  if (UNLIKELY(!leaf)) return 0;
  uint32_t *slot = &leaf->word[(uintptr_t)block >> 4 & (UNDEAD_LEAF_GRANULES - 1)], word = *slot;
  if (LIKELY(word)) __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
  else if (UNLIKELY(undead_sparse_used)) forget_sparse(leaf, block);
  return word;
}

UNDEAD_INLINE bool calloc_instead(size_t size) {
  return size > LARGEST_CACHED_BLOCK && undead_record_mode > UNDEAD_RECORD_OFF;
}

#define MOST_PUT_ASIDE 1000u   // for one block

// Another block in place of one whose address must not be used now.
static __attribute__((noinline)) void *elsewhere(void *block, size_t alignment, size_t size) {
  for (uint32_t i = 0; block && i < MOST_PUT_ASIDE && undead_avoid_block(block, usable_size(block)); i++)
    block = alignment > 16 ? __libc_memalign(alignment, size) : __libc_calloc(1, size);
  return block;
}

void undead_avoid_no_longer(void) {
  undead_hook_enter();
  for (void *block = undead_avoid_end(), *next; block; block = next) {
    next = *(void **)block;
    undead_allocator_free(block);
  }
  undead_hook_leave();
}

// Nothing is recorded, as in a program that only links Undead: glibc's function, and nothing around it.
UNDEAD_INLINE bool is_off(void) { return LIKELY(undead_record_mode == UNDEAD_RECORD_OFF); }

// Another allocator than glibc's. Not known yet which one, it is looked for.
UNDEAD_INLINE bool makes_detour(void) { return UNLIKELY(undead_allocator_detour) && undead_allocator_is_other(); }

UNDEAD_INLINE bool is_sampled(void) { return undead_record_mode == UNDEAD_RECORD_SAMPLED; }

UNDEAD_INLINE void forget_sampled(void *block) {
  undead_leaf *leaf = leaf_of(block);
  if (UNLIKELY(!leaf)) return;
  uint8_t *byte = undead_sparse_at(leaf, (uintptr_t)block), known = *byte;
  if (LIKELY(known) && LIKELY(!(known & UNDEAD_SPARSE_SAMPLED))) __atomic_store_n(byte, 0, __ATOMIC_RELEASE);
  else forget(block);
}

static __attribute__((noinline)) void *malloc_sampled(size_t size) {
  undead_hook_enter();
  void *block = __libc_malloc(size);
  if (LIKELY(block)) {
    clear_start(block);
    record_sampled(block, size, HOOK_FRAME);
  }
  if (UNLIKELY(!undead_cache.tried)) undead_cache_learn();
  undead_hook_leave();
  return block;
}

UNDEAD_INLINE void *calloc_of_glibc(size_t count, size_t size) {
  void *block = __libc_calloc(count, size);
  size_t total;
  if (LIKELY(block) || __builtin_mul_overflow(count, size, &total) || !frees_kept(total)) return block;
  return __libc_calloc(count, size);
}

static __attribute__((noinline)) void *malloc_recorded(size_t size) {
  undead_hook_enter();
  bool cleared = calloc_instead(size);
  void *block = UNLIKELY(cleared) ? calloc_of_glibc(1, size) : malloc_of_glibc(size);
  if (UNLIKELY(undead_avoids_addresses)) block = elsewhere(block, 16, size);
  if (LIKELY(block) && LIKELY(begin(block, HOOK_FRAME)) && LIKELY(!cleared)) clear_new(block);
  if (UNLIKELY(!undead_cache.tried)) undead_cache_learn();
  undead_hook_leave();
  return block;
}

UNDEAD_INLINE bool record_whole(void *block, size_t size, const hook_frame *frame);

// A block that does not come from glibc; NULL if it is to.
static __attribute__((noinline)) void *ask_source(undead_block_source_function source, size_t size, size_t alignment,
                                                  const hook_frame *frame) {
  if (undead_thread.in_hook || undead_thread.ignored) return NULL;
  void *block = source(size, alignment, frame->return_address, (uintptr_t)(frame + 1), frame->saved_frame_pointer);
  if (!block || !undead_block_is_chosen(block)) return block;
  undead_hook_enter();
  record_whole(block, size, frame);
  undead_hook_leave();
  return block;
}

UNDEAD_INLINE void *from_source(size_t size, size_t alignment, const hook_frame *frame) {
  undead_block_source_function source = undead_block_source;
  return LIKELY(!source) ? NULL : ask_source(source, size, alignment, frame);
}

// One block fewer until the next one is chosen. Compilers make a load, a store and a test of it.
UNDEAD_INLINE bool count_is_over(void) {
  bool negative;
  __asm__ volatile("decq %1" : "=@ccs"(negative), "+m"(undead_thread.choice_left));
  return negative;
}

// Where not even that is counted in a short way.
UNDEAD_INLINE void *from_choice(size_t size, size_t alignment, const hook_frame *frame) {
  if (LIKELY(!undead_blocks_are_chosen) || LIKELY(!count_is_over())) return NULL;
  return ask_source(undead_chosen_blocks.choose, size, alignment, frame);
}

static __attribute__((noinline)) void *malloc_otherwise(size_t size) {
  if (makes_detour()) return undead_detour_malloc(size, HOOK_FRAME);
  void *block = from_source(size, 16, HOOK_FRAME);
  if (LIKELY(!block)) block = from_choice(size, 16, HOOK_FRAME);
  if (UNLIKELY(block)) return block;
  if (is_off()) return __libc_malloc(size);
  if (is_sampled()) JUMP malloc_sampled(size);
  JUMP malloc_recorded(size);
}

// A hook that interrupted another one, and threads of the tool, take the long way.
UNDEAD_INLINE bool is_outermost(void) { return LIKELY(!(undead_thread.in_hook | undead_thread.ignored)); }

static __attribute__((noinline)) void learn_cache(void) {
  undead_hook_enter();
  undead_cache_learn();
  undead_hook_leave();
}

// Then it begins anew, and is not counted twice.
static __attribute__((noinline)) void *malloc_chosen(size_t size) {
  if (UNLIKELY(!undead_cache.tried) && !undead_thread.in_hook) learn_cache();
  void *block = ask_source(undead_chosen_blocks.choose, size, 16, HOOK_FRAME);
  if (block) return block;
  undead_thread.choice_left++;
  JUMP malloc_otherwise(size);
}

UNDEAD_HOOK void *malloc(size_t size) {
  uint32_t way = undead_way;
  if (UNLIKELY(!(way & UNDEAD_WAY_SHORT))) {
    if (way & UNDEAD_WAY_ONLY_CHOOSES) {
      if (UNLIKELY(count_is_over())) JUMP malloc_chosen(size);
      void *block = take_unrecorded(size);
      if (LIKELY(block)) return block;
      JUMP __libc_malloc(size);
    }
    if (way & UNDEAD_WAY_OFF) return __libc_malloc(size);
    JUMP malloc_otherwise(size);
  }
  if (UNLIKELY(size > LARGEST_CACHED_BLOCK) || UNLIKELY(!is_outermost())) JUMP malloc_otherwise(size);
  if (UNLIKELY(way & UNDEAD_WAY_CHOOSES) && UNLIKELY(count_is_over())) JUMP malloc_chosen(size);
  if (UNLIKELY(way & UNDEAD_WAY_EXTRAS)) JUMP malloc_with_extras(size);
  if (way & UNDEAD_WAY_STACKS) JUMP malloc_traced(size);
  if (way & UNDEAD_WAY_SAMPLED) JUMP malloc_lean(size);
  JUMP malloc_bare(size);
}

// In a hook. What stands in for a chosen block goes where that would have gone.
UNDEAD_INLINE void give_back(void *block, undead_frame caller) {
  if (undead_block_is_chosen(block)) {
    block = undead_chosen_blocks.take_back(block, caller.pc, caller.sp, caller.bp);
    if (undead_cache_give(block)) return;
  }
  __libc_free(block);
}

static __attribute__((noinline)) void free_unless_kept(void *block, undead_frame caller) {
  undead_free_filter_function filter = undead_free_filter;
  if (block && filter && filter(block, caller.pc, caller.sp, caller.bp)) return;
  undead_hook_enter();
  forget(block);
  give_back(block, caller);
  undead_hook_leave();
}

// Nobody keeps dead blocks while backtraces are sampled (zombies/zombies.c).
static __attribute__((noinline)) void free_sampled(void *block) {
  undead_hook_enter();
  forget_sampled(block);
  give_back(block, caller_of(HOOK_FRAME));
  undead_hook_leave();
}

static __attribute__((noinline)) void free_recorded(void *block) {
  undead_hook_enter();
  forget(block);
  give_back(block, caller_of(HOOK_FRAME));
  undead_hook_leave();
}

static __attribute__((noinline)) void free_otherwise(void *block) {
  if (makes_detour()) {
    undead_detour_free(block, HOOK_FRAME);
  } else if (is_sampled()) {
    JUMP free_sampled(block);
  } else if (UNLIKELY(undead_free_filter != NULL)) {
    free_unless_kept(block, caller_of(HOOK_FRAME));
  } else if (is_off()) {
    // Recording may have been on before, and what is chosen lies in a leaf as well.
    if (UNLIKELY(leaf_of(block) != NULL)) {
      if (undead_block_is_chosen(block)) JUMP free_recorded(block);
      forget(block);
    }
    __libc_free(block);
  } else {
    JUMP free_recorded(block);
  }
}

static __attribute__((noinline)) void free_by_glibc(void *block) {
  undead_hook_enter_first();
  give_back(block, caller_of(HOOK_FRAME));
  undead_hook_leave();
}

static __attribute__((noinline)) void free_sampled_outermost(void *block) {
  undead_hook_enter_first();
  forget_sampled(block);
  if (!undead_cache_give(block)) give_back(block, caller_of(HOOK_FRAME));
  undead_hook_leave();
}

UNDEAD_HOOK void free(void *block) {
  uint32_t way = undead_way;
  if (UNLIKELY(!(way & (UNDEAD_WAY_FREE | UNDEAD_WAY_SAMPLED))) || UNLIKELY(undead_thread.in_hook)) {
    // What was chosen lies in a leaf, as does what was recorded.
    if (!(way & UNDEAD_WAY_ONLY_CHOOSES) || UNLIKELY(leaf_of(block) != NULL)) JUMP free_otherwise(block);
    if (LIKELY(undead_cache_give(block))) return;
    JUMP __libc_free(block);
  }
  undead_hook_enter_first();
  undead_leaf *leaf = leaf_of(block);
  if (way & UNDEAD_WAY_SAMPLED) {
    uint8_t *byte = leaf ? undead_sparse_at(leaf, (uintptr_t)block) : NULL;
    if (UNLIKELY(!byte) || UNLIKELY(!*byte) || UNLIKELY(*byte & UNDEAD_SPARSE_SAMPLED)) JUMP free_sampled_outermost(block);
    __atomic_store_n(byte, 0, __ATOMIC_RELEASE);
  } else if (LIKELY(leaf)) {
    __atomic_store_n(&leaf->word[(uintptr_t)block >> 4 & (UNDEAD_LEAF_GRANULES - 1)], 0, __ATOMIC_RELEASE);
  }
  if (UNLIKELY(!undead_cache_give(block))) JUMP free_by_glibc(block);
  if (UNLIKELY(undead_hook_leave_sees_gate())) undead_gate_wait();
}

// In either way, for what is not as frequent as malloc.
UNDEAD_INLINE bool record_whole(void *block, size_t size, const hook_frame *frame) {
  if (!is_sampled()) return record(block, frame);
  record_sampled(block, size, frame);
  return true;
}

UNDEAD_HOOK void *calloc(size_t count, size_t size) {
  if (makes_detour()) return undead_detour_calloc(count, size, HOOK_FRAME);
  if (is_off()) return __libc_calloc(count, size);
  undead_hook_enter();
  void *block = calloc_of_glibc(count, size);
  if (LIKELY(block)) record_whole(block, count * size, HOOK_FRAME);
  undead_hook_leave();
  return block;
}

UNDEAD_INLINE void *resize_sampled(void *old, size_t size, const hook_frame *frame) {
  undead_hook_enter();
  bool known = old && undead_registry_knows((uintptr_t)old);
  if (old) forget_sampled(old);
  void *block = __libc_realloc(old, size);
  // The new block is sampled anew. If it failed, the old one is still there.
  if (LIKELY(block)) record_sampled(block, size, frame);
  else if (known && size != 0) record_sampled(old, usable_size(old), frame);
  undead_hook_leave();
  return block;
}

UNDEAD_INLINE void *resize(void *old, size_t size, const hook_frame *frame) {
  undead_hook_enter();
  // Before the call: afterwards the address may already be another thread's.
  uint32_t word = old ? forget(old) : 0;
  size_t kept = old ? usable_size(old) : 0;
  void *block = __libc_realloc(old, size);
  if (UNLIKELY(!block) && size && frees_kept(size)) block = __libc_realloc(old, size);
  if (LIKELY(block)) {
    // A known block stays known, also while nothing new is recorded.
    bool recorded = record(block, frame);
    if (!recorded && word) set_word(block, word & (UNDEAD_WORD_BACKTRACE | UNDEAD_WORD_OWN));
    if (recorded || undead_thread.ignored) clear(block, kept);
  } else if (word && size != 0) {
    set_word(old, word);   // it failed and the old block is still there; size 0 freed it
  }
  undead_hook_leave();
  return block;
}

// glibc must not see a block of the pool.
static __attribute__((noinline)) void *resize_chosen(void *old, size_t size) {
  void *block = size ? malloc(size) : NULL;
  if (!block && size) return NULL;
  // As in a mapping of its own, the word behind it is not its own; unlike there, its size is one of whole words.
  undead_hook_enter();
  size_t kept = (((volatile const size_t *)old)[-1] & ~(sizeof(size_t) - 1)) - CHUNK_HEADER;
  undead_hook_leave();
  if (block) __builtin_memcpy(block, old, kept < size ? kept : size);
  free(old);
  return block;
}

// Nothing is recorded, and nothing was of this block.
UNDEAD_INLINE bool is_unrecorded(void *block) { return is_off() && LIKELY(!leaf_of(block)); }

UNDEAD_HOOK void *realloc(void *old, size_t size) {
  if (makes_detour()) return undead_detour_realloc(old, size, HOOK_FRAME);
  if (undead_block_is_chosen(old)) return resize_chosen(old, size);
  if (is_unrecorded(old)) return __libc_realloc(old, size);
  if (is_sampled()) return resize_sampled(old, size, HOOK_FRAME);
  return resize(old, size, HOOK_FRAME);
}

UNDEAD_HOOK void *reallocarray(void *old, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  if (makes_detour()) return undead_detour_realloc(old, total, HOOK_FRAME);
  if (undead_block_is_chosen(old)) return resize_chosen(old, total);
  if (is_unrecorded(old)) return __libc_realloc(old, total);
  if (is_sampled()) return resize_sampled(old, total, HOOK_FRAME);
  return resize(old, total, HOOK_FRAME);
}

UNDEAD_INLINE void *allocate_aligned(size_t alignment, size_t size, const hook_frame *frame) {
  undead_hook_enter();
  void *block = __libc_memalign(alignment, size);
  if (UNLIKELY(!block) && frees_kept(size)) block = __libc_memalign(alignment, size);
  if (is_sampled()) {
    if (LIKELY(block)) {
      clear_start(block);
      record_sampled(block, size, frame);
    }
    undead_hook_leave();
    return block;
  }
  if (UNLIKELY(undead_avoids_addresses)) block = elsewhere(block, alignment, size);
  if (LIKELY(block) && LIKELY(begin(block, frame))) clear_new(block);
  undead_hook_leave();
  return block;
}

UNDEAD_HOOK void *memalign(size_t alignment, size_t size) {
  if (makes_detour()) return undead_detour_aligned(alignment, size, HOOK_FRAME);
  return allocate_aligned(alignment, size, HOOK_FRAME);
}

UNDEAD_HOOK void *aligned_alloc(size_t alignment, size_t size) {
  if (makes_detour()) return undead_detour_aligned_alloc(alignment, size, HOOK_FRAME);
  bool is_power = alignment && (alignment & (alignment - 1)) == 0;
  if (UNLIKELY(!is_power) && undead_libc_refuses_alignments(gnu_get_libc_version())) {
    errno = EINVAL;
    return NULL;
  }
  return allocate_aligned(alignment, size, HOOK_FRAME);
}

UNDEAD_HOOK int posix_memalign(void **result, size_t alignment, size_t size) {
  if (makes_detour()) return undead_detour_posix_memalign(result, alignment, size, HOOK_FRAME);
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  void *block = from_source(size, alignment, HOOK_FRAME);
  if (LIKELY(!block)) block = from_choice(size, alignment, HOOK_FRAME);
  if (LIKELY(!block)) block = allocate_aligned(alignment, size, HOOK_FRAME);
  if (!block) return ENOMEM;
  *result = block;
  return 0;
}

UNDEAD_HOOK void *valloc(size_t size) {
  if (makes_detour()) return undead_detour_aligned(UNDEAD_PAGE, size, HOOK_FRAME);
  undead_hook_enter();
  void *block = __libc_valloc(size);
  if (LIKELY(block)) record_whole(block, size, HOOK_FRAME);
  undead_hook_leave();
  return block;
}

UNDEAD_HOOK void *pvalloc(size_t size) {
  if (makes_detour()) return undead_detour_pvalloc(size, HOOK_FRAME);
  undead_hook_enter();
  void *block = __libc_pvalloc(size);
  if (LIKELY(block)) record_whole(block, usable_size(block), HOOK_FRAME);
  undead_hook_leave();
  return block;
}

bool undead_hook_record(void *block, size_t usable, const hook_frame *frame) {
  if (!is_sampled()) return record(block, frame);
  record_sampled_bytes(block, usable, frame);
  return !undead_thread.ignored;
}

uint32_t undead_hook_forget(void *block) { return forget(block); }

void undead_hook_put_back(void *block, uint32_t word) {
  set_word(block, word & (UNDEAD_WORD_BACKTRACE | UNDEAD_WORD_OWN));
}

bool undead_hook_keeps(void *block, const hook_frame *frame) {
  undead_free_filter_function filter = undead_free_filter;
  undead_frame caller = caller_of(frame);
  return block && filter && filter(block, caller.pc, caller.sp, caller.bp);
}
#endif
