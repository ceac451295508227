#include "unwind/capture/memo_x86_64.h"
#include "platform/memory/memory.h"
#include "platform/memory/page.h"
#include "unwind/rules/images.h"
#include "unwind/capture/odd_x86_64.h"
#include "unwind/store/stack.h"
#include <string.h>

// Where few stacks are met again, looking for them is a waste: rest for a while.
#define TRIED_STACKS 256u
#define FEWEST_HITS 512u
#define RESTING_STACKS 16384u
#define MOST_CHECKS 512u
#define MOST_PAGES 32u

static void forget_kept(undead_unwind_cache *cache) {
  cache->expected = NULL;
  cache->followed = NULL;
  cache->last_made = NULL;
  cache->memo_bytes_used = 0;
}

void undead_memo_forget(undead_unwind_cache *cache) {
  if (cache->memo_used) {
    memset(cache->memo_places, 0, sizeof cache->memo_places);
    memset(cache->memo_sets, 0, sizeof cache->memo_sets);
  }
  cache->memo_used = 0;
  forget_kept(cache);
}

static undead_memo_place *memo_place_of(undead_unwind_cache *cache, uint32_t id) {
  return &cache->memo_places[undead_spread32(id) >> 22];
}
_Static_assert(UNDEAD_MEMO_PLACES == 1u << (32 - 22), "bits of the hash");

// The candidates stay: they are ids, which are the same for all threads.
void undead_memo_leave(undead_unwind_cache *cache) {
  for (undead_memo *memo = cache->last_made; memo; memo = memo->made_before) {
    memo_place_of(cache, memo->id)->memo = NULL;
    memset(memo->set, 0, sizeof cache->memo_sets[0]);
  }
  forget_kept(cache);
}

static void *take(undead_unwind_cache *cache, uint32_t bytes) {
  bytes = (bytes + 15) & ~15u;
  if (cache->memo_bytes_used + bytes > UNDEAD_MEMO_BYTES) return NULL;
  void *taken = cache->memo_bytes + cache->memo_bytes_used;
  cache->memo_bytes_used += bytes;
  return taken;
}

// Fills the last block up with the first check.
static undead_check *fill_up(undead_check *first, undead_check *end) {
  while ((uint32_t)(end - first) % UNDEAD_CHECK_BLOCK != 0) *end++ = *first;
  return end;
}

// Writes the checks of the site's frames behind `check`; NULL if they are not to be kept. `mask` says whether the rbp
// outside of them matters, and then whether the one at the start does.
static undead_check *append_site(undead_unwind_cache *cache, uintptr_t stack_high, undead_frame frame, uintptr_t *mask,
                                 undead_check *check) {
  undead_frame states[UNDEAD_RUN_FRAMES];
  undead_link links[UNDEAD_RUN_FRAMES];
  undead_rule rules[UNDEAD_RUN_FRAMES];
  for (uint32_t index = 0; index < UNDEAD_RUN_FRAMES; index++) {
    const undead_known_pc *known = know_pc(cache, frame.pc);
    if (!known || (index == 0 && known->rule & UNDEAD_RULE_LOADER)) return NULL;
    rules[index] = known->rule;
    links[index] = index ? links[index - 1] : (undead_link){0};
    if (step_any(&frame, &links[index], rules[index], stack_high) != UNDEAD_ODD_STEPPED) return NULL;
    states[index] = frame;
  }
  for (uint32_t index = UNDEAD_RUN_FRAMES; index-- > 0;) {
    check = write_link(check, &states[index], &links[index], *mask);
    if (rules[index] & UNDEAD_RULE_BP) *mask = ~(uintptr_t)0;
    else if (links[index].bp_slot) *mask = 0;
  }
  return check;
}

static undead_memo *make(undead_unwind_cache *cache, uintptr_t stack_high, const undead_frame *start, uint32_t id) {
  uint32_t joined = cache->last, count = cache->frames[joined].first_check;
  if (count > MOST_CHECKS) return NULL;
  uint32_t most = count + UNDEAD_LINK_CHECKS * UNDEAD_RUN_FRAMES + UNDEAD_CHECK_BLOCK;
  undead_memo *memo = take(cache, (uint32_t)(sizeof *memo + most * sizeof(undead_check)));
  if (!memo) {
    undead_memo_forget(cache);
    return NULL;
  }
  // Innermost first, but for the site's frames, which the caller has compared already.
  undead_check *end = memo->checks;
  for (uint32_t index = count; index > 0; index--) *end++ = cache->checks[index - 1];
  uintptr_t mask = cache->frames[joined].bp_mask;
  end = append_site(cache, stack_high, *start, &mask, end);
  if (!end) return NULL;
  memo->end = fill_up(memo->checks, end);
  memo->next = NULL;
  memo->context_slot = 0;
  memo->sp = start->sp;
  memo->pc = start->pc;
  memo->bp = start->bp;
  memo->bp_mask = mask;
  memo->id = id;
  return memo;
}

// True if stacks are not to be kept now.
static bool rests(undead_unwind_cache *cache) {
  if (++cache->memo_misses < TRIED_STACKS) return false;
  cache->memo_misses = 0;
  bool waste = cache->memo_hits < FEWEST_HITS;
  cache->memo_hits = 0;
  if (!waste) return false;
  cache->memo_rest = RESTING_STACKS;
  cache->expected = NULL;
  cache->followed = NULL;
  return true;
}

// Two at a time where they lie side by side. `own` is known.
static bool can_read(const uintptr_t *page, const uintptr_t *end, uintptr_t own) {
  while (page < end) {
    uintptr_t first = *page++;
    if (first == own) continue;
    bool two = page < end && *page == first + UNDEAD_PAGE && *page != own;
    page += two;
    if (!(two ? undead_border_is_readable(first + UNDEAD_PAGE) : undead_page_is_readable(first))) return false;
  }
  return true;
}

// The words of others than the thread's own stack may be gone: their pages are asked for each time.
static bool holds(const undead_memo *memo, uintptr_t place, const undead_frame *start) {
  if (memo->sp == start->sp) return undead_memo_holds(memo, start->pc, start->sp, start->bp);
  if (memo->sp != ~start->sp || memo->pc != start->pc || ((memo->bp ^ start->bp) & memo->bp_mask) != 0) return false;
  const uintptr_t *pages = (const uintptr_t *)memo->end;
  return can_read(pages, pages + memo->page_count, undead_page_of(place)) &&
         undead_blocks_hold(memo->checks, memo->end);
}

// The memo of a stack if there is one; `wanted` if one is to be made.
static undead_memo *look_up_memo(undead_unwind_cache *cache, const undead_frame *start, uint32_t id, bool *wanted) {
  cache->memo_used = 1;
  undead_memo_place *place = memo_place_of(cache, id);
  undead_memo *memo = place->memo;
  *wanted = false;
  if (memo && memo->id == id && holds(memo, 0, start)) return memo;
  *wanted = place->candidate == id;
  // Not yet: many stacks come only once. Of two that come in turn to one place, either is to get its second time.
  if (!*wanted && (!place->candidate || cache->memo_turn++ % 2 == 0)) place->candidate = id;
  return NULL;
}

static void keep(undead_unwind_cache *cache, undead_memo **set, undead_memo *memo) {
  memo->set = set;
  memo->made_before = cache->last_made;
  cache->last_made = memo;
  memo_place_of(cache, memo->id)->memo = memo;
}

static void put_first(undead_unwind_cache *cache, undead_memo **set, undead_memo *memo) {
  if (memo->set != set) return;   // undead_memo_leave looks nowhere else
  set[1] = set[0];
  set[0] = memo;
  undead_memo_follow(cache, memo);
}

void undead_memo_consider(undead_unwind_cache *cache, uintptr_t stack_high, undead_memo **set, const undead_frame *start,
                          uint32_t id) {
  if (rests(cache)) return;
  bool wanted;
  undead_memo *memo = look_up_memo(cache, start, id, &wanted);
  if (!memo) {
    memo = wanted ? make(cache, stack_high, start, id) : NULL;
    if (!memo) return;
    keep(cache, set, memo);
  }
  put_first(cache, set, memo);
}

// --- Stacks that the chain cannot follow ---

static undead_memo **set_of_walked(undead_unwind_cache *cache, const undead_frame *start) {
  return undead_memo_set(cache, 0, start->pc, start->sp);
}

static uint32_t follow(undead_unwind_cache *cache, undead_memo *memo) {
  cache->memo_hits++;
  undead_memo_follow(cache, memo);
  return memo->id;
}

uint32_t undead_memo_expected_elsewhere(undead_unwind_cache *cache, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_memo *memo = cache->expected;   // not always what the caller saw: a signal handler may have captured
  const undead_frame start = {pc, sp, bp};
  return memo && LIKELY(holds(memo, (uintptr_t)__builtin_frame_address(0), &start)) ? follow(cache, memo) : 0;
}

uint32_t undead_memo_find_walked(undead_unwind_cache *cache, uintptr_t place, const undead_frame *start) {
  if (cache->memo_rest) return 0;
  // One of the thread's own stack that is expected was compared already.
  undead_memo **set = set_of_walked(cache, start);
  for (uint32_t way = 0; way < UNDEAD_MEMO_WAYS; way++)
    if (set[way] && holds(set[way], place, start)) return follow(cache, set[way]);
  return 0;
}

bool undead_memo_begin_walk(undead_unwind_cache *cache, undead_walk_words *words) {
  if (cache->memo_rest) {
    cache->memo_rest--;
    return false;
  }
  // Written where it stays if it is kept.
  uint32_t most = (uint32_t)(sizeof(undead_memo) + (MOST_CHECKS + UNDEAD_CHECK_BLOCK) * sizeof(undead_check) +
                             MOST_PAGES * sizeof(uintptr_t));
  if (cache->memo_bytes_used + most > UNDEAD_MEMO_BYTES) undead_memo_forget(cache);
  undead_memo *memo = (undead_memo *)(cache->memo_bytes + cache->memo_bytes_used);
  *words = (undead_walk_words){.next = memo->checks, .end = memo->checks + MOST_CHECKS};
  return true;
}

// Writes the pages behind the checks; UINT32_MAX if there are too many.
static uint32_t list_pages(undead_thread_state *thread, const undead_memo *memo, const undead_check *end) {
  uintptr_t *pages = (uintptr_t *)end;
  uint32_t count = 0;
  for (const undead_check *check = memo->checks; check < end; check++) {
    uintptr_t slot = (uintptr_t)check->slot, page = undead_page_of(slot);
    if (undead_stack_covers(thread, slot)) continue;
    uint32_t known = count;
    while (known > 0 && pages[known - 1] != page) known--;
    if (known > 0) continue;
    if (count == MOST_PAGES) return UINT32_MAX;
    pages[count++] = page;
  }
  return count;
}

static undead_memo *make_walked(undead_unwind_cache *cache, undead_thread_state *thread, const undead_frame *start,
                                const undead_walk_words *words, uint32_t id) {
  undead_memo *memo = (undead_memo *)(cache->memo_bytes + cache->memo_bytes_used);
  undead_check *end = fill_up(memo->checks, words->next);
  uint32_t page_count = list_pages(thread, memo, end);
  if (page_count == UINT32_MAX) return NULL;
  uintptr_t bytes = (uintptr_t)((const uintptr_t *)end + page_count) - (uintptr_t)memo;
  if (!take(cache, (uint32_t)bytes)) return NULL;
  *memo = (undead_memo){.sp = page_count ? ~start->sp : start->sp, .pc = start->pc, .bp = start->bp,
                        .bp_mask = words->uses_bp ? ~(uintptr_t)0 : 0, .end = end, .id = id, .page_count = page_count};
  return memo;
}

void undead_memo_consider_walked(undead_unwind_cache *cache, undead_thread_state *thread, const undead_frame *start,
                                 const undead_walk_words *words, uint32_t id) {
  const undead_memo *place = (const undead_memo *)(cache->memo_bytes + cache->memo_bytes_used);
  // A caller that is the loader has to ask for changed images each time.
  if (words->incomplete || words->next == place->checks || undead_is_loader(start->pc) || rests(cache)) return;
  bool wanted;
  undead_memo **set = set_of_walked(cache, start), *memo = look_up_memo(cache, start, id, &wanted);
  if (!memo) {
    memo = wanted ? make_walked(cache, thread, start, words, id) : NULL;
    if (!memo) return;
    keep(cache, set, memo);
  }
  put_first(cache, set, memo);
}
