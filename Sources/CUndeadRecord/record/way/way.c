#include "record/way.h"
#include "platform/memory/own_data.h"
#include "record/allocator.h"
#include "record/avoid.h"
#include "record/block_source.h"
#include "record/free_filter.h"
#include "record/mode.h"
#include "record/scopes.h"
#include "record/sparse.h"
#include "record/way/thread_cache.h"
#include "unwind/async_callers.h"

volatile uint32_t undead_way;

// What it is made of. Each part writes its own, and then has the way chosen anew.
volatile int32_t undead_record_mode = UNDEAD_RECORD_UNDECIDED;
int32_t undead_allocator_detour = 1;   // not known (other_allocator.c)
undead_allocator undead_next;
undead_block_source_function volatile undead_block_source;
undead_block_pool undead_chosen_blocks;
bool undead_blocks_are_chosen;
undead_free_filter_function volatile undead_free_filter;
undead_free_kept_function volatile undead_free_kept;
bool undead_sparse_used, undead_avoids_addresses;
undead_capture_watcher_function undead_capture_watcher;
uint32_t undead_open_scopes;
struct undead_cache_facts undead_cache;

static uint32_t way_of_mode(int32_t mode) {
  // The first call is to look at the lists of freed blocks.
  if (!undead_cache.tried && mode != UNDEAD_RECORD_OFF) return 0;
  switch (mode) {
    case UNDEAD_RECORD_OFF: return UNDEAD_WAY_OFF;
    case UNDEAD_RECORD_BLOCKS: return UNDEAD_WAY_BLOCKS;
    case UNDEAD_RECORD_BACKTRACES: return UNDEAD_WAY_STACKS;
    case UNDEAD_RECORD_SAMPLED: return UNDEAD_WAY_SAMPLED;
    default: return 0;
  }
}

// Samples find their asynchronous callers themselves, and belong to no scope.
static bool has_extras(int32_t mode) {
  if (mode == UNDEAD_RECORD_SAMPLED) return false;
  bool scopes = __atomic_load_n(&undead_open_scopes, __ATOMIC_SEQ_CST) != 0;
  return scopes || undead_avoids_addresses || undead_capture_watcher || (undead_async_wanted && mode != UNDEAD_RECORD_BLOCKS);
}

static uint32_t choose(void) {
  int32_t mode = undead_record_mode;
  uint32_t way = has_extras(mode) ? UNDEAD_WAY_EXTRAS : 0;
  if (undead_allocator_detour) return way;
  if (!undead_block_source) way |= way_of_mode(mode);
  bool chooses = __atomic_load_n(&undead_blocks_are_chosen, __ATOMIC_SEQ_CST);
  if (chooses && way & UNDEAD_WAY_OFF) way ^= undead_free_filter ? UNDEAD_WAY_OFF : UNDEAD_WAY_OFF | UNDEAD_WAY_ONLY_CHOOSES;
  if (chooses && way & UNDEAD_WAY_SHORT) way |= UNDEAD_WAY_CHOOSES;
  bool words = mode > UNDEAD_RECORD_OFF && mode != UNDEAD_RECORD_SAMPLED;
  return words && !undead_free_filter && !undead_sparse_used ? way | UNDEAD_WAY_FREE : way;
}

void undead_way_choose(void) {
  if (!undead_cache.place) undead_cache.place = (const char *)&undead_thread.no_cache - (const char *)__builtin_thread_pointer();
  // A writer has looked at everything since the writer before: a change is made before it is looked at.
  uint32_t before = __atomic_load_n(&undead_way, __ATOMIC_SEQ_CST), way;
  do way = choose() | ((before & UNDEAD_WAY_COUNT) + UNDEAD_WAY_ONE);
  while (!__atomic_compare_exchange_n(&undead_way, &before, way, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}
