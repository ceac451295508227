#include "scan/stacks/stale.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "runtime/runtime.h"
#include "unwind/backtrace.h"
#include "world/images.h"

enum {
  MAX_CACHE = 1024,
  WORKER_FRAME = 1024,      // from the stack pointer to the return address into _dispatch_worker_thread
  MANAGER_FRAME = 96,       // likewise into _dispatch_event_loop_drain
  MAIN_FRAME_MOST = 4096,   // of a worker's main function
  CONTINUATION_MOST = 96,   // bytes of its block
  LEAST_ADDRESS = 4096,
};

static void find_function(const char *name, uintptr_t *low, uintptr_t *high) {
  const undead_module *module = undead_module_of(undead_image_facts.dispatch_image.low);
  size_t size = 0;
  *low = module ? undead_symbol_address(module, name, &size) : 0;
  *high = *low + size;
}

bool undead_stale_open(undead_stale *stale) {
  *stale = (undead_stale){0};
  if (undead_runtime_find()) stale->slab_isa = undead_runtime.slab_isa;
  uintptr_t unused;
  find_function("_dispatch_worker_thread", &stale->worker_low, &stale->worker_high);
  find_function("_dispatch_event_loop_drain", &stale->drain_low, &stale->drain_high);
  find_function("_dispatch_sema4_timedwait", &stale->waits[0].low, &stale->waits[0].high);
  find_function("_dispatch_semaphore_wait_slow", &stale->waits[1].low, &stale->waits[1].high);
  find_function("_dispatch_mgr_q", &stale->manager_queue, &unused);
  find_function("_dispatch_continuation_alloc_from_heap", &stale->allocator_low, &stale->allocator_high);
  stale->cached = undead_map(UNDEAD_MAX_CACHED * sizeof *stale->cached);
  return stale->cached != NULL;
}

void undead_stale_close(undead_stale *stale) {
  if (stale->cached) undead_unmap(stale->cached, UNDEAD_MAX_CACHED * sizeof *stale->cached);
  *stale = (undead_stale){0};
}

uintptr_t undead_stale_dispatch_data(const undead_stopped_thread *thread) {
  size_t module = undead_image_facts.dispatch_tls_module;
  if (!module || !thread->tp) return 0;
  uintptr_t vector = undead_thread_vector(thread->tp);
  if (!undead_is_readable(vector - 16, 16) || word_at(vector - 16) < module) return 0;
  if (!undead_is_readable(vector + 16 * module, 16)) return 0;
  uintptr_t storage = word_at(vector + 16 * module), data = storage + undead_image_facts.dispatch_tls_offset;
  if (storage == UINTPTR_MAX || !storage || !undead_is_readable(data, ABI_TSD_BYTES)) return 0;
  return *(const uint32_t *)(data + ABI_TSD_TID) == (uint32_t)thread->tid ? data : 0;
}

static void insert_cached(undead_stale *stale, uintptr_t block) {
  if (stale->cached_count == UNDEAD_MAX_CACHED) return;
  stale->cached[stale->cached_count++] = block;
}

static void find_cached_of(undead_stale *stale, const undead_heap *heap, const undead_stopped_thread *thread) {
  uintptr_t data = undead_stale_dispatch_data(thread);
  if (!data) return;
  // A thread inside libdispatch may just have recycled a block that it still reads: the newest one counts as live.
  bool keep = undead_in(undead_image_facts.dispatch_image, thread->pc);
  int32_t count = 0;
  uintptr_t node = word_at(data + ABI_TSD_CACHE);
  for (int i = 0; node && i < MAX_CACHE; i++, node = word_at(node + ABI_CONTINUATION_NEXT)) {
    if (!undead_heap_starts(heap, node) || undead_block_size(node) < ABI_CONTINUATION_BYTES) return;
    int32_t mine = *(const int32_t *)(node + ABI_CONTINUATION_COUNT);
    if (i > 0 && mine != count - 1) return;
    count = mine;
    if (i > 0 || !keep) insert_cached(stale, node);
  }
}

void undead_stale_find_cached(undead_stale *stale, const undead_heap *heap, const undead_world *world) {
  stale->cached_count = 0;
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].phase == UNDEAD_THREAD_STOPPED) find_cached_of(stale, heap, &world->threads[i]);
  undead_sort_words(stale->cached, stale->cached_count);
}

bool undead_stale_is_cached(const undead_stale *stale, uintptr_t block) {
  return undead_place_of_word(stale->cached, stale->cached_count, block) < stale->cached_count;
}

// libdispatch, queue_internal.h: the continuation of a plain function or block uses no `dc_other`, which holds what an
// earlier use of the block left there. Others begin with a class, or are of channels, which only libdispatch itself makes.
// A program's own tables look the same: only the function of libdispatch that makes them tells whose a block is, and
// without backtraces only who refers to it.
bool undead_stale_is_continuation(const undead_stale *stale, const undead_heap *heap, uintptr_t block) {
  uintptr_t maker = 0;
  uint32_t backtrace = *undead_heap_word(heap, block) & UNDEAD_WORD_BACKTRACE;
  return stale->allocator_low && undead_backtrace_frames(backtrace, &maker, 1) == 1 && maker > stale->allocator_low
    && maker < stale->allocator_high;
}

bool undead_stale_looks_like_continuation(uintptr_t block, size_t size) {
  if (size < ABI_CONTINUATION_OTHER + 8 || size > CONTINUATION_MOST) return false;
  uint64_t flags = word_at(block);
  if (flags >= LEAST_ADDRESS || !(flags & ABI_CONTINUATION_ALLOCATED)) return false;
  return undead_module_of(word_at(block + ABI_CONTINUATION_FUNCTION)) != NULL;
}

undead_continuation_words undead_stale_continuation_words(uintptr_t block) {
  return (undead_continuation_words){.link = block + ABI_CONTINUATION_NEXT,
                                     .function = block + ABI_CONTINUATION_FUNCTION,
                                     .data = block + ABI_CONTINUATION_DATA,
                                     .end = block + ABI_CONTINUATION_OTHER};
}

static bool returns_behind_call(uintptr_t word, uintptr_t low, uintptr_t high) {
  return word > low && word < high && ((const uint8_t *)word)[-5] == 0xe8;
}

static bool is_waiting_manager(const undead_stale *stale, uintptr_t sp, uintptr_t high) {
  for (uintptr_t at = sp; at < sp + MANAGER_FRAME && at + 8 <= high; at += 8)
    if (returns_behind_call(word_at(at), stale->drain_low, stale->drain_high)) return true;
  return false;
}

// True if the word at `at` is the return address into the main function of a worker, in its frame and not in a copy of
// one: what was called keeps the frame pointer below it, and behind that frame the C library goes on.
static bool is_frame_of_worker(const undead_stale *stale, uintptr_t at, uintptr_t low, uintptr_t high) {
  uintptr_t word = word_at(at);
  if (word <= stale->worker_low || word >= stale->worker_high || at < low + 8) return false;
  uintptr_t frame = word_at(at - 8);
  if (frame % 8 || frame <= at || frame > at + MAIN_FRAME_MOST || frame + 16 > high) return false;
  return undead_in(undead_image_facts.libc, word_at(frame + 8));
}

// True if the thread waits for work: from the stack pointer up to its frame in the main function there is no code but
// that which waits. Destructors of thread-specific values run on a worker, too, over the remains of that frame.
static bool is_waiting_worker(const undead_stale *stale, const undead_stopped_thread *thread, uintptr_t frame) {
  bool seen[2] = {false, false};
  if (!thread->in_syscall || frame < thread->sp || frame - thread->sp > WORKER_FRAME) return false;
  for (uintptr_t at = thread->sp & ~(uintptr_t)7; at < frame; at += 8) {
    uintptr_t word = word_at(at);
    for (int i = 0; i < 2; i++) seen[i] |= undead_in(stale->waits[i], word);
    bool known = undead_is_libc_code(word) || undead_in(stale->waits[0], word) || undead_in(stale->waits[1], word);
    if (!known && undead_is_executable(word)) return false;
  }
  return seen[0] && seen[1];
}

static bool is_dead_below(const undead_stale *stale, const undead_stopped_thread *thread, uintptr_t frame, bool manager) {
  if (manager) return true;
  return ((const uint8_t *)word_at(frame))[-5] == 0xe8 && is_waiting_worker(stale, thread, frame);
}

bool undead_stale_is_idle(const undead_stale *stale, const undead_stopped_thread *thread, uintptr_t low, uintptr_t high) {
  uintptr_t data = stale->worker_low ? undead_stale_dispatch_data(thread) : 0;
  if (!data) return false;
  uintptr_t queue = word_at(data + ABI_TSD_QUEUE);
  bool manager = queue != 0;
  if (manager) {
    if (queue != stale->manager_queue || !thread->in_syscall || !is_waiting_manager(stale, thread->sp, high)) return false;
  }
  for (uintptr_t at = (high - 8) & ~(uintptr_t)7; at >= low; at -= 8)
    if (is_frame_of_worker(stale, at, low, high) && is_dead_below(stale, thread, at, manager)) return true;
  return false;
}
