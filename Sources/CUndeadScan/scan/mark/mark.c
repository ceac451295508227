#include "scan/mark/mark.h"
#include "platform/memory/own_data.h"
#include "record/avoid.h"
#include "record/block_source.h"
#include "record/scopes.h"
#include "scan/bodies/plain.h"
#include "scan/bodies/references.h"
#include "scan/stacks/quiet.h"
#include "world/crew.h"
#include <assert.h>

static void add_scope(undead_scan_result *result, uint32_t scope) {
  if (result->thread_scope_count == UNDEAD_MOST_THREAD_SCOPES) return;
  for (uint32_t i = 0; i < result->thread_scope_count; i++)
    if (result->thread_scopes[i] == scope) return;
  result->thread_scopes[result->thread_scope_count++] = scope;
}

static void note_scope(const undead_marker *marker, uint32_t scope) {
  if (!scope) return;
  if (marker->pool) undead_spin_lock(&marker->pool->lock);
  add_scope(marker->result, scope);
  if (marker->pool) undead_spin_unlock(&marker->pool->lock);
}

// Takes `without` from a word and sets `bits`, but not if it has one of `unless`. Of several threads none undoes what another did.
static bool change_word(uint32_t *word, uint32_t unless, uint32_t without, uint32_t bits) {
  uint32_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
  do {
    if (before & unless) return false;
  } while (!__atomic_compare_exchange_n(word, &before, (before & ~without) | bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return true;
}

static void doubt(undead_marker *marker, uintptr_t block, uint32_t *word, bool by_place) {
  if (marker->weak == UNDEAD_WEAK_IS_IGNORED) return;
  // As two words of the list at most, so that it is the same whatever is found first.
  uint32_t bits = marker->listed | (by_place ? marker->listed_by_place : 0);
  if (bits && (__atomic_load_n(word, __ATOMIC_RELAXED) & bits) == bits) return;
  if (!change_word(word, marker->bit, 0, bits)) return;
  undead_worklist_push(&marker->doubted, block | (by_place ? UNDEAD_NAMED_BY_PLACE : 0));
}

// Where a reference comes from, in one word: the block that it is in, or the place of a root and this bit; above them the
// evidence, RAW if it is not doubtful.
#define OF_ROOT (1ull << 63)
#define EVIDENCE_SHIFT 60
#define PLACE_MASK ((1ull << EVIDENCE_SHIFT) - 1)

static inline uintptr_t origin_of(uintptr_t block, uintptr_t place, undead_evidence doubtful) {
  return (block ? block : place | OF_ROOT) | (uintptr_t)doubtful << EVIDENCE_SHIFT;
}
static inline undead_evidence doubt_of(uintptr_t origin) { return (undead_evidence)(origin >> EVIDENCE_SHIFT & 7); }

static bool is_cut(const undead_marker *marker, uintptr_t origin, uintptr_t block) {
  uintptr_t place = origin & PLACE_MASK;
  return origin & OF_ROOT ? marker->cut(marker, 0, place, block) : marker->cut(marker, place, 0, block);
}

static inline void keep_marked(undead_marker *marker, uintptr_t block, uint32_t before) {
  if (marker->bodies->makers) undead_makers_expect(marker->bodies->makers, before & UNDEAD_WORD_BACKTRACE);
  undead_worklist_push(&marker->waiting, block);
}

// A frame may use an object that it does not own, if the object owns itself.
static bool is_borrowed(const undead_marker *marker, uint32_t word, uintptr_t origin) {
  if (doubt_of(origin) != UNDEAD_EVIDENCE_PERHAPS || !marker->listed) return false;
  return undead_may_be_borrowed(word & UNDEAD_WORD_BACKTRACE);
}

static __attribute__((noinline)) void mark_closely(undead_marker *marker, uintptr_t block, uint32_t *word, uintptr_t origin) {
  uint32_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
  if (marker->within && !(before & marker->within)) return;
  if (doubt_of(origin) != UNDEAD_EVIDENCE_RAW && !is_borrowed(marker, before, origin)) {
    doubt(marker, block, word, origin & OF_ROOT || doubt_of(origin) == UNDEAD_EVIDENCE_PERHAPS);
    return;
  }
  if (marker->cut && before & UNDEAD_WORD_SPECIAL && is_cut(marker, origin, block)) return;
  // Of the threads that reach a block, one marks it and looks at it. Nothing else follows from the order in which words change:
  // what blocks hold does not, and lists change hands under a lock.
  if (!change_word(word, marker->bit, marker->listed_by_place, marker->bit)) return;
  if (marker->only_threads) note_scope(marker, undead_scope_of_backtrace(before & UNDEAD_WORD_BACKTRACE));
  keep_marked(marker, block, before);
}

static inline void mark_word(undead_marker *marker, uintptr_t block, uint32_t *word, uintptr_t origin) {
  uint32_t before = __atomic_load_n(word, __ATOMIC_RELAXED);
  if (before & (marker->bit | marker->except)) return;
  bool closely = (uintptr_t)marker->pool | (uintptr_t)marker->cut | marker->within | marker->only_threads;
  if (__builtin_expect(closely || doubt_of(origin) != UNDEAD_EVIDENCE_RAW, 0)) {
    mark_closely(marker, block, word, origin);
    return;
  }
  *word = (before & ~marker->listed_by_place) | marker->bit;
  keep_marked(marker, block, before);
}

static void mark_block(undead_marker *marker, uintptr_t block, uintptr_t origin) {
  mark_word(marker, block, undead_heap_word(marker->heap, block), origin);
}

// An address in the eight bytes of malloc's between two blocks, or in the fence of a block of the pool: the end of one, which runs
// down from there, or the place before the other, whose elements are counted from one. Blocks of other allocators touch each other,
// and the end of one is the start of the next.
static void mark_beside(undead_marker *marker, uintptr_t address, uintptr_t origin) {
  if (marker->result) undead_avoid_address(address);
  uintptr_t end = address & ~(uintptr_t)7;
  if (!(address & 8) && !undead_block_is_chosen((const void *)(end - 1))) return;
  uintptr_t before = undead_heap_block(marker->heap, end - 1);
  if (before) mark_block(marker, before, origin);
  if (undead_heap_starts(marker->heap, end + 8)) mark_block(marker, end + 8, origin);
}

// A task owns its slabs by their first bytes. A task of `async let` lies in the frames of another, where each word is in doubt.
static inline bool may_own_slab(uintptr_t block, uintptr_t address, uintptr_t origin) {
  return address == block && !(origin & OF_ROOT) && doubt_of(origin) == UNDEAD_EVIDENCE_PERHAPS;
}

// What does not name the start of a block, or is doubtful.
static __attribute__((noinline)) void mark_other(undead_marker *marker, uintptr_t address, uintptr_t origin) {
  uintptr_t block = undead_heap_block(marker->heap, address);
  bool doubtful = doubt_of(origin) != UNDEAD_EVIDENCE_RAW;
  if (block && doubtful && !may_own_slab(block, address, origin)
      && undead_is_inside_task(marker->bodies, block, address)) return;
  if (block) mark_block(marker, block, origin);
  else mark_beside(marker, address, origin);
}

static inline void mark(undead_marker *marker, uintptr_t address, uintptr_t origin) {
  undead_leaf *leaf = marker->heap->regions[address >> UNDEAD_LEAF_SHIFT].leaf;
  uint32_t *word = leaf ? &leaf->word[(address >> 4) & (UNDEAD_LEAF_GRANULES - 1)] : NULL;
  if (__builtin_expect(word && *word && doubt_of(origin) == UNDEAD_EVIDENCE_RAW, 1))
    mark_word(marker, address & ~(uintptr_t)15, word, origin);
  else mark_other(marker, address, origin);
}

static inline void mark_oldest(undead_marker *marker) {
  uint32_t at = marker->candidate_first++ & (UNDEAD_CANDIDATE_RING - 1);
  mark(marker, marker->candidates[at].address, marker->candidates[at].origin);
}

// The registry's word of a candidate is seldom in the cache: ask for it now and look at it a few candidates later.
static inline void consider(undead_marker *marker, uintptr_t address, uintptr_t origin) {
  const undead_leaf *leaf = marker->heap->regions[address >> UNDEAD_LEAF_SHIFT].leaf;
  if (leaf) __builtin_prefetch(&leaf->word[(address >> 4) & (UNDEAD_LEAF_GRANULES - 1)]);
  if (marker->candidate_end - marker->candidate_first == UNDEAD_CANDIDATE_RING) mark_oldest(marker);
  uint32_t at = marker->candidate_end++ & (UNDEAD_CANDIDATE_RING - 1);
  marker->candidates[at].address = address;
  marker->candidates[at].origin = origin;
}

typedef struct {
  undead_marker *marker;
  uintptr_t block;   // 0: a root
  size_t size;       // what lies in the block itself is marked; 0 for a root
} reference_source;

static inline void visit_marked(void *context, const undead_reference *reference) {
  const reference_source *source = context;
  if (reference->address - source->block < source->size) return;
  bool weak = source->marker->weak && undead_is_weak_evidence(reference->evidence);
  undead_evidence doubtful = weak ? reference->evidence : UNDEAD_EVIDENCE_RAW;
  if (weak && source->block && source->marker->is_idle && source->marker->is_idle(source->marker, reference)) return;
  consider(source->marker, reference->address, origin_of(source->block, reference->at, doubtful));
}

static void scan_plain(undead_marker *marker, uintptr_t block, size_t size, const undead_plan *plan) {
  reference_source source = {marker, block, size};
  undead_walk_plain(marker->heap, block, size, plan, visit_marked, &source);
}

static void scan_other(undead_marker *marker, uintptr_t block, size_t size) {
  undead_body body;
  undead_body_of(marker->bodies, block, size, &body);
  uint32_t noted = marker->note ? marker->note(marker, block, size, &body) : 0;
  if (noted) undead_heap_set(marker->heap, block, noted);
  // Types that are made while the program runs lie in blocks, too.
  if (undead_heap_may_hold(marker->heap, body.isa)) consider(marker, body.isa, block);
  reference_source source = {marker, block, size};
  undead_walk_body(marker->heap, block, &body, false, visit_marked, &source);
}

static inline void scan_block(undead_marker *marker, uintptr_t block) {
  size_t size = undead_heap_block_size(marker->heap, block);
  const undead_plan *plan = undead_plain_plan(marker->bodies, block, size);
  if (!plan && marker->pool && !marker->is_first && !undead_body_is_shareable(marker->bodies, block, size)) {
    undead_worklist_push(&marker->for_first, block);
    return;
  }
  marker->blocks++;
  marker->bytes += size;
  if (plan) scan_plain(marker, block, size, plan);
  else scan_other(marker, block, size);
}

static void ask_for(undead_marker *marker, uintptr_t block) {
  marker->blocks_ahead[marker->block_end++ & (UNDEAD_BLOCK_RING - 1)] = block;
  undead_heap_ask_for_head(block);
}

// Until `limit` blocks are marked. Whether nothing is left to do.
static bool drain(undead_marker *marker, uint64_t limit) {
  while (marker->blocks < limit) {
    uintptr_t block = undead_worklist_pop(&marker->waiting);
    if (block) {
      ask_for(marker, block);
      if (marker->block_end - marker->block_first < UNDEAD_BLOCK_RING) continue;
    } else if (marker->candidate_first != marker->candidate_end) {
      mark_oldest(marker);
      continue;
    } else if (marker->block_first == marker->block_end) {
      return true;
    }
    uint32_t later = marker->block_first + UNDEAD_BLOCK_RING / 2;
    if (marker->block_end - marker->block_first > UNDEAD_BLOCK_RING / 2)
      undead_heap_ask_for_body(marker->heap, marker->blocks_ahead[later & (UNDEAD_BLOCK_RING - 1)]);
    scan_block(marker, marker->blocks_ahead[marker->block_first++ & (UNDEAD_BLOCK_RING - 1)]);
  }
  return false;
}

void undead_mark_with_others(undead_marker *marker) {
  enum { BLOCKS = 64 };
  while (!undead_crew_leaves()) {
    if (!drain(marker, marker->blocks + BLOCKS)) {
      undead_pool_share(marker->pool, &marker->waiting);
      continue;
    }
    undead_pool_leave_to_first(marker->pool, &marker->for_first);
    if (!undead_pool_take(marker->pool, &marker->waiting, marker->is_first)) return;
  }
}

// Threads are made for what is not done soon, and has branches.
static void drain_all(undead_marker *marker) {
  enum { BLOCKS_ALONE = 1 << 14, BRANCHES = 8 };
  while (!drain(marker, marker->threads > 1 ? marker->blocks + BLOCKS_ALONE : UINT64_MAX))
    if (undead_worklist_size(&marker->waiting) >= BRANCHES) marker->together(marker);
}

typedef enum { ROOT_OF_PROGRAM, ROOT_OF_OTHER_THREAD, ROOT_DOUBTFUL } root_order;

static root_order order_of(const undead_marker *marker, const undead_root *root) {
  bool of_thread = root->kind == UNDEAD_ROOT_STACK || root->kind == UNDEAD_ROOT_REGISTER;
  if (!of_thread || root->tid == marker->caller) return ROOT_OF_PROGRAM;
  return root->doubtful ? ROOT_DOUBTFUL : ROOT_OF_OTHER_THREAD;
}

static void scan_roots(undead_marker *marker, const undead_roots *roots, root_order order) {
  reference_source source = {marker, 0};
  for (uint32_t i = 0; i < roots->count; i++) {
    if (order_of(marker, &roots->roots[i]) != order) continue;
    undead_walk_root(marker->heap, &roots->roots[i], visit_marked, &source);
    if (marker->waiting.top > UNDEAD_WORKLIST_FIRST / 2) drain_all(marker);
  }
  drain_all(marker);
}

bool undead_mark_roots(undead_marker *marker, const undead_roots *roots) {
  assert(marker->bit && marker->heap && marker->bodies);
  scan_roots(marker, roots, ROOT_OF_PROGRAM);
  marker->only_threads = marker->result != NULL;
  scan_roots(marker, roots, ROOT_OF_OTHER_THREAD);
  uint64_t early_blocks = marker->blocks;
  uint32_t early_bit = marker->bit;
  marker->bit |= marker->late;
  scan_roots(marker, roots, ROOT_DOUBTFUL);
  marker->doubtful_blocks = marker->blocks - early_blocks;
  if (!marker->doubtful_blocks) marker->bit = early_bit;
  marker->only_threads = false;
  return !marker->waiting.no_memory;
}

void undead_mark_again(undead_marker *marker, uintptr_t block) {
  scan_other(marker, block, undead_heap_block_size(marker->heap, block));
  drain_all(marker);
}

static bool doubt_unmarked(void *context, uintptr_t block, uint32_t *word) {
  undead_marker *marker = context;
  if (!(*word & marker->bit)) doubt(marker, block, word, false);
  return true;
}

void undead_mark_doubt_all(undead_marker *marker) { undead_heap_each(marker->heap, doubt_unmarked, marker); }

bool undead_mark_from(undead_marker *marker, uintptr_t block, uint64_t limit) {
  mark(marker, block, OF_ROOT);
  if (limit == UINT64_MAX) drain_all(marker);
  else drain(marker, marker->blocks + limit);
  bool complete = !undead_worklist_has(&marker->waiting) && marker->block_first == marker->block_end
    && marker->candidate_first == marker->candidate_end;
  if (!complete) {
    while (undead_worklist_pop(&marker->waiting)) {
    }
    marker->block_first = marker->block_end;
    marker->candidate_first = marker->candidate_end;
  }
  return complete && !marker->waiting.no_memory;
}

void undead_mark_close(undead_marker *marker) {
  undead_worklist_close(&marker->waiting);
  undead_worklist_close(&marker->doubted);
  undead_worklist_close(&marker->for_first);
}
