#include "unwind/backtrace.h"
#include "platform/memory/own_data.h"
#include "unwind/async_callers.h"
#include "unwind/capture/cache_pool.h"
#include "unwind/rules/images.h"
#include "unwind/capture/known_x86_64.h"
#include "unwind/rules/libunwind.h"
#include "unwind/capture/memo_x86_64.h"
#include "unwind/settings.h"
#include "unwind/store/stack.h"
#include "unwind/store/store.h"

static uint64_t dropped;

uint64_t undead_backtrace_dropped(void) {
  return __atomic_load_n(&dropped, __ATOMIC_RELAXED);
}


static void count(uint64_t *counter) {
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static uint32_t store(const uint32_t *indices, uint32_t frames) {
  uint32_t id = undead_store_add(indices, frames);
  if (id) return id;
  count(&dropped);
  return undead_backtrace_none;
}

// Captures with libunwind into the scratch of `cache`; returns how many frames it found from `pc` on.
static uint32_t walk_with_libunwind(undead_unwind_cache *cache, uintptr_t pc) {
  uint32_t found = undead_backtrace_libunwind(cache->addresses, UNDEAD_DEPTH_LIMIT), first = 0;
  while (first < found && cache->addresses[first] != pc) first++;
  undead_rule rule = 0;
  for (uint32_t index = first; index < found; index++) {
    // The frame that a signal interrupted has not called anything: point behind its instruction.
    uintptr_t address = cache->addresses[index] + (undead_rule_kind(rule) == UNDEAD_RULE_SIGNAL ? 1 : 0);
    uint32_t pc_index = undead_pc_find(address, &rule);
    if (pc_index == UNDEAD_PC_NONE) return 0;
    cache->indices[index - first] = pc_index;   // never overtakes the addresses, which are twice as long
  }
  return found - first;
}

// Also for the thread that asked: its cache has a copy of the rule.
static void learn_end(undead_unwind_cache *cache, uint32_t index) {
  undead_pc_note_end(index);
  undead_capture_forget_pc(cache, undead_pcs[index].pc);
}

// True if all frames but the outermost were unwound by tables: then it is that one which libunwind cannot unwind either.
// Elsewhere it may have lost registers on the way, which it will have another time.
static bool is_by_tables(const uint32_t *indices, uint32_t frames) {
  for (uint32_t index = 0; index + 1 < frames; index++)
    if (undead_pcs[indices[index]].rule & (UNDEAD_RULE_SPECIAL | UNDEAD_RULE_GUESS)) return false;
  return true;
}

// A capture, and its result.
typedef struct {
  undead_thread_state *thread;
  undead_unwind_cache *cache;
  undead_frame frame;
  uint32_t id;
  undead_walked_function use;   // of what is not stored
  void *context;
  uintptr_t place;   // on the captured stack, if `cache` is the thread's own and of the current epoch, else 0
} capture;

static undead_walk_end walk_by_rules(const capture *wanted, undead_walk_words *words, uint32_t *frames) {
  undead_unwind_cache *scratch = wanted->cache;
  if (wanted->place) return undead_walk_from(wanted->place, scratch, wanted->thread, wanted->frame, words, frames);
  return undead_walk(wanted->thread, wanted->frame, scratch->indices, UNDEAD_DEPTH_LIMIT, frames);
}

// Leaves the indices in the scratch; returns how many. `words` may be NULL.
static uint32_t walk_uncached(const capture *wanted, undead_walk_words *words) {
  undead_unwind_cache *scratch = wanted->cache;
  uint32_t frames = 0;
  if (walk_by_rules(wanted, words, &frames) != UNDEAD_WALK_LOST) return frames;
  if (words) words->incomplete = true;
  // libunwind may read what is none of a stack, if it is not the thread's own.
  uint32_t lost = frames && is_by_tables(scratch->indices, frames) ? scratch->indices[frames - 1] : UNDEAD_PC_NONE;
  if (!undead_stack_covers(wanted->thread, wanted->frame.sp) || !undead_libunwind_is_ready()) return frames;
  uint32_t better = walk_with_libunwind(scratch, wanted->frame.pc);
  // Then it is asked once: the thread's cache remembers the end of the stack, not what is behind an odd frame.
  if (better <= frames && lost != UNDEAD_PC_NONE) learn_end(scratch, lost);
  if (better > frames) return better;
  walk_by_rules(wanted, NULL, &frames);
  return frames;
}

static void capture_in_room(void *context) {
  capture *wanted = context;
  undead_unwind_cache *known = wanted->place ? wanted->cache : NULL;
  undead_walk_words words;
  bool may_keep = known && undead_memo_begin_walk(known, &words);
  uint32_t found = walk_uncached(wanted, may_keep ? &words : NULL);
  if (wanted->use) wanted->use(wanted->context, wanted->cache->indices, found);
  else wanted->id = store(wanted->cache->indices, found);
  if (may_keep && wanted->id != undead_backtrace_none)
    undead_memo_consider_walked(known, wanted->thread, &wanted->frame, &words, wanted->id);
}

static uint32_t capture_without_chain(undead_thread_state *thread, undead_frame frame, uintptr_t place) {
  undead_unwind_cache *cache = thread->unwind_cache;
  bool borrowed = !cache || (cache->state & UNDEAD_CACHE_BUSY);
  undead_unwind_cache *scratch = borrowed ? undead_cache_borrow() : cache;
  if (!scratch) {
    count(&dropped);
    return undead_backtrace_none;
  }
  bool is_known = !borrowed && scratch->state == __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
  scratch->state |= UNDEAD_CACHE_BUSY;
  capture wanted = {.thread = thread, .cache = scratch, .frame = frame, .place = is_known ? place : 0};
  undead_run_with_cache(scratch, capture_in_room, &wanted);
  scratch->state &= ~UNDEAD_CACHE_BUSY;
  if (borrowed) undead_cache_return(scratch);
  return wanted.id;
}

bool undead_backtrace_walk(uintptr_t pc, uintptr_t sp, uintptr_t bp, undead_walked_function use, void *context) {
  undead_unwind_cache *scratch = undead_pc_table_prepare() ? undead_cache_borrow() : NULL;
  if (!scratch) return false;
  if (undead_images_changed()) undead_backtrace_forget_images();
  capture wanted = {.thread = &undead_thread, .cache = scratch, .frame = {pc, sp, bp}, .use = use, .context = context};
  scratch->state |= UNDEAD_CACHE_BUSY;
  undead_run_with_cache(scratch, capture_in_room, &wanted);
  scratch->state &= ~UNDEAD_CACHE_BUSY;
  undead_cache_return(scratch);
  return true;
}

uint32_t undead_backtrace_keep(const uint32_t *indices, uint32_t frames) {
  uint32_t id = undead_store_prepare() ? undead_store_add(indices, frames) : 0;
  return id ? id : undead_backtrace_none;
}

static void capture_cached_in_room(void *context) {
  capture *wanted = context;
  wanted->id = undead_capture_cached(wanted->cache, wanted->thread->stack_high, wanted->frame, true);
}

typedef struct {
  undead_known_pc *entry;
  uintptr_t pc;
  bool done;
} lesson;

static void learn_in_room(void *context) {
  lesson *wanted = context;
  undead_rule rule;
  uint32_t index = undead_pc_find(wanted->pc, &rule);
  wanted->done = index != UNDEAD_PC_NONE;
  if (wanted->done) *wanted->entry = (undead_known_pc){wanted->pc, rule, index};
}

const undead_known_pc *undead_learn_pc(undead_unwind_cache *cache, undead_known_pc *entry, uintptr_t pc) {
  lesson wanted = {entry, pc, false};
  undead_run_with_cache(cache, learn_in_room, &wanted);
  return wanted.done ? entry : NULL;
}

// Whatever the fast way does not do: the first capture of a thread, odd stacks, odd frames, captures within captures.
uint32_t undead_capture_slow(undead_thread_state *thread, undead_frame frame, bool tried) {
  if (!undead_pc_table_prepare() || !undead_store_prepare()) {
    count(&dropped);
    return undead_backtrace_none;
  }
  // New code is mapped only after the loader allocated for it, and by then the old is gone from its tables.
  bool from_loader = undead_is_loader(frame.pc);
  if (from_loader && undead_images_changed()) undead_backtrace_forget_images();
  undead_unwind_cache *cache = undead_cache_of_thread(thread);
  if (cache && !(cache->state & UNDEAD_CACHE_BUSY)) {
    uint32_t epoch = __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
    if (cache->state != epoch) {
      undead_capture_reset(cache, epoch);
      tried = false;
    }
    uint32_t id = undead_capture_known(cache, (uintptr_t)__builtin_frame_address(0), frame);
    if (id) return id;
    if ((!tried || from_loader) && undead_stack_covers(thread, frame.sp)) {
      capture wanted = {.thread = thread, .cache = cache, .frame = frame};
      undead_run_with_cache(cache, capture_cached_in_room, &wanted);
      if (wanted.id) return wanted.id;
    }
  }
  return capture_without_chain(thread, frame, (uintptr_t)__builtin_frame_address(0));
}

void undead_backtrace_forget_images(void) {
  undead_images_forget(undead_pc_table_retire);
  undead_pc_table_forget_rules();
  undead_libunwind_images_unloaded();
  __atomic_fetch_add(&undead_rules_epoch, UNDEAD_EPOCH_STEP, __ATOMIC_ACQ_REL);
}

void undead_backtrace_abandoned(void) {
  undead_cache_abandoned(&undead_thread);
}

void undead_backtrace_after_fork_in_child(void) {
  undead_libunwind_forbid();
  undead_cache_pool_after_fork_in_child(undead_thread.unwind_cache);
}

void undead_backtrace_forget_runs(void) {
  __atomic_fetch_add(&undead_rules_epoch, UNDEAD_EPOCH_STEP, __ATOMIC_ACQ_REL);
}

uint32_t undead_backtrace_unscoped(uint32_t id) {
  return undead_trie && id < undead_store_count() ? undead_store_unscoped(id) : id;
}

uint32_t undead_backtrace_epoch(void) { return __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE); }

uint32_t undead_backtrace_frames(uint32_t id, uintptr_t *frames, uint32_t max) {
  if (!undead_trie || id >= undead_store_count()) return 0;
  uint32_t indices[UNDEAD_DEPTH_LIMIT];
  uint32_t found = undead_store_read(id, indices, max < UNDEAD_DEPTH_LIMIT ? max : UNDEAD_DEPTH_LIMIT);
  if (undead_async_wanted) undead_async_arrange(indices, found);
  for (uint32_t index = 0; index < found; index++) frames[index] = undead_pcs[indices[index]].pc;
  return found;
}

uint32_t undead_backtrace_run(uint32_t id) { return undead_trie && id < undead_store_count() ? undead_store_run(id) : 0; }

void undead_backtrace_prefetch(uint32_t id) {
  if (undead_trie) __builtin_prefetch(undead_trie_at(id));
}

uint32_t undead_backtrace_count(void) {
  return undead_trie ? undead_store_count() : 0;
}

uint64_t undead_backtrace_bytes(void) {
  return undead_backtrace_count() * sizeof(*undead_trie) + undead_pc_table_bytes();
}
