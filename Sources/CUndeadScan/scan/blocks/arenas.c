// Walks glibc's lists of free chunks (malloc/malloc.c: malloc_state, tcache_perthread_struct).
#include "glibc/heap.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/read_text.h"
#include "record/allocator.h"
#include "record/avoid.h"
#include "scan/arenas.h"
#include "scan/blocks/arenas_internal.h"
#include "world/images.h"
#include "platform/processor/processor.h"
#include <gnu/libc-version.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_ARENAS = 65536,
  MOST_PUT_ASIDE = 1 << 20,
  CACHE_LEAST_HEAD = CACHE_BINS,          // counts that stand before the lists, of a byte each before 2.30
  CACHE_MOST_HEAD = 256,
};

static struct {
  size_t place;         // of the pointer to a thread's cache, from the thread pointer; 0 if it is not known
  size_t lists;         // offset of the lists in the cache
  bool protected_links; // since 2.32 links of single lists are stored xor their own place shifted by a page
} layout;

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *block);

typedef struct {
  undead_free_chunks *free;
  const undead_heap *heap;
  undead_intervals *excluded;
  undead_graph *graph;      // NULL if nobody wants to know what threads keep
} list_walk;

static uintptr_t next_in_single_list(uintptr_t memory) {
  return layout.protected_links ? undead_glibc_next(memory) : word_at(memory);
}

static bool note_chunk(list_walk *walk, uintptr_t chunk) {
  return undead_is_chunk(walk->heap, chunk) && undead_note_free_chunk(walk->free, chunk);
}

// In single lists all chunks have one size, or nearly. Those of fast bins name headers, those of threads' caches the memory.
static bool note_of_bin(list_walk *walk, uintptr_t chunk, uintptr_t bin) {
  return undead_is_chunk(walk->heap, chunk) && undead_glibc_is_of_cache_bin(undead_chunk_bytes(chunk), bin)
    && undead_note_free_chunk(walk->free, chunk);
}

static void note_kept(list_walk *walk, uintptr_t chunk) {
  undead_graph *graph = walk->graph;
  if (!graph || graph->kept_count == UNDEAD_KEPT_LIMIT) return;
  graph->kept[graph->kept_count++] = (undead_graph_kept){chunk, chunk + undead_chunk_bytes(chunk)};
}

static void walk_fast_bin(list_walk *walk, uintptr_t chunk, uintptr_t bin) {
  while (note_of_bin(walk, chunk, bin)) chunk = next_in_single_list(chunk + CHUNK_HEADER);
}

static void walk_cached(list_walk *walk, uintptr_t memory, uintptr_t bin) {
  for (; memory > CHUNK_HEADER && note_of_bin(walk, memory - CHUNK_HEADER, bin); memory = next_in_single_list(memory))
    note_kept(walk, memory - CHUNK_HEADER);
}

// A free chunk in a bin repeats its size behind its end, and the chunk there says that it is not in use.
static bool is_free_by_neighbour(uintptr_t chunk) {
  uintptr_t size = undead_chunk_bytes(chunk), next = chunk + size;
  return undead_is_readable(next, CHUNK_HEADER) && word_at(next) == size
    && !(undead_chunk_head(next) & CHUNK_PREVIOUS_IN_USE);
}

// `bin` is the place of two links, taken for those of a chunk that would begin 16 bytes before.
static void walk_bin(list_walk *walk, uintptr_t bin) {
  uintptr_t before = bin - CHUNK_HEADER;
  for (uintptr_t chunk = word_at(bin); chunk != bin - CHUNK_HEADER; chunk = word_at(chunk + CHUNK_HEADER)) {
    if (!undead_is_chunk(walk->heap, chunk) || word_at(chunk + CHUNK_HEADER + 8) != before) return;
    if (!is_free_by_neighbour(chunk) || !undead_note_free_chunk(walk->free, chunk)) return;
    before = chunk;
  }
}

// What has never been handed out, or was taken back, ends where the heap does: at a page.
static void note_top(list_walk *walk, uintptr_t top) {
  if (undead_is_readable(top, CHUNK_SMALLEST) && (top + undead_chunk_bytes(top)) % 4096 == 0 && note_chunk(walk, top))
    undead_note_top(walk->free, top);
}

static void list_arena(list_walk *walk, uintptr_t bins, bool has_fast_bins) {
  uintptr_t low = bins - (has_fast_bins ? BINS_TO_FAST : BINS_TO_TOP);
  for (uintptr_t i = 0; has_fast_bins && i < FAST_BINS; i++) walk_fast_bin(walk, word_at(low + i * 8), i);
  for (uintptr_t i = 0; i < BINS; i++) walk_bin(walk, bins + i * BIN_BYTES);
  note_top(walk, word_at(bins - BINS_TO_TOP));
  // The links name the headers of free chunks, which begin in the last word of the block before them.
  undead_intervals_add(walk->excluded, low, bins + BINS * BIN_BYTES);
}

// Of libc's data the first part that has an arena.
static undead_glibc_ring find_ring(void) {
  const undead_images *facts = &undead_image_facts;
  undead_glibc_ring ring = {0};
  for (uint32_t i = 0; !ring.main_bins && i < facts->writable_count; i++) {
    undead_glibc_area data = {.low = facts->writable[i].low, .high = facts->writable[i].high};
    if (undead_in(facts->libc, data.low)) undead_glibc_find_ring(data, &ring);
  }
  return ring;
}

static void list_all_arenas(list_walk *walk, undead_glibc_ring ring) {
  uintptr_t head = ring.head, bins = ring.main_bins;
  bool has_fast_bins = head && head != ARENA_HEAD_SINCE_2_43;
  list_arena(walk, bins, has_fast_bins);
  for (uintptr_t at = word_at(bins + BINS_TO_NEXT); head && at != bins - head; at = word_at(at + head + BINS_TO_NEXT))
    list_arena(walk, at + head, has_fast_bins);
}

void undead_arenas_each(undead_arena_visitor visit, void *context) {
  undead_glibc_ring ring = find_ring();
  uintptr_t bins = ring.main_bins, head = ring.head;
  if (!head) return;
  visit(context, bins - head, word_at(bins - BINS_TO_TOP), true);
  uintptr_t at = word_at(bins + BINS_TO_NEXT);
  for (uint32_t count = 0; at != bins - head && count < MOST_ARENAS && undead_glibc_is_arena(at, head); count++) {
    visit(context, at, word_at(at + head - BINS_TO_TOP), false);
    at = word_at(at + head + BINS_TO_NEXT);
  }
}

static uintptr_t bins_of_cache(void) { return layout.lists == CACHE_BINS_SINCE_2_42 * 2 ? CACHE_BINS_SINCE_2_42 : CACHE_BINS; }

static void list_cache(list_walk *walk, uintptr_t tp) {
  uintptr_t cache = word_at(undead_thread_variable(tp, layout.place)), chunk = cache - CHUNK_HEADER;
  uintptr_t bins = bins_of_cache();
  if (cache < CHUNK_HEADER || !undead_is_chunk(walk->heap, chunk)) return;
  if (undead_chunk_bytes(chunk) - CHUNK_HEADER < layout.lists + bins * 8) return;
  for (uintptr_t i = 0; i < bins; i++) walk_cached(walk, word_at(cache + layout.lists + i * 8), i);
  if (undead_note_free_chunk(walk->free, chunk)) note_kept(walk, chunk);
}

static void list_caches(list_walk *walk, const undead_world *world) {
  if (!layout.place) return;
  list_cache(walk, undead_thread_pointer());
  for (uint32_t i = 0; i < world->thread_count; i++) {
    const undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase == UNDEAD_THREAD_STOPPED && thread->tp && undead_is_readable(undead_thread_variable(thread->tp, layout.place), 8))
      list_cache(walk, thread->tp);
  }
}

// A chunk with a mapping of its own is in no arena: it stays somebody's, and others follow it.
static bool is_mapped(uintptr_t chunk) {
  return chunk % 16 == 0 && undead_is_readable(chunk, CHUNK_SMALLEST) && undead_chunk_head(chunk) & CHUNK_MAPPED;
}

static void list_put_aside(list_walk *walk) {
  uintptr_t block = (uintptr_t)undead_avoid_put_aside();
  for (uint32_t count = 0; block && count < MOST_PUT_ASIDE; block = word_at(block), count++) {
    if (is_mapped(block - CHUNK_HEADER)) continue;
    if (!note_chunk(walk, block - CHUNK_HEADER)) return;
    note_kept(walk, block - CHUNK_HEADER);
  }
}

// Where malloc's memory lists the blocks, all of it is known. A block with pages that cannot be read counts as
// none, and the rest of it as somebody's.
static bool exclude_found(undead_intervals *excluded) {
  const undead_glibc_heap *found = undead_glibc_found();
  for (uint32_t i = 0; found && i < found->area_count; i++)
    if (undead_is_readable(found->areas[i].low, found->areas[i].high - found->areas[i].low))
      undead_intervals_add(excluded, found->areas[i].low, found->areas[i].high);
  return found != NULL;
}

// Notes what the lists of all arenas, the threads' caches and the blocks put aside name.
static void list_all(undead_free_chunks *free, const undead_heap *heap, const undead_world *world, undead_intervals *excluded,
                     undead_graph *graph) {
  if (exclude_found(excluded)) return;
  list_walk walk = {.free = free, .heap = heap, .excluded = excluded, .graph = graph};
  if (graph) graph->kept_count = 0;
  list_put_aside(&walk);
  list_caches(&walk, world);
  undead_glibc_ring ring = find_ring();
  if (ring.main_bins) list_all_arenas(&walk, ring);
}

bool undead_free_chunks_open(undead_free_chunks *free, const undead_heap *heap, const undead_world *world,
                             undead_intervals *excluded, undead_graph *graph) {
  *free = (undead_free_chunks){.bits = undead_map(UNDEAD_FREE_TABLE_BYTES)};
  if (!free->bits) return false;
  list_all(free, heap, world, excluded, graph);
  return !free->no_memory;
}

typedef struct {
  uintptr_t block, before;   // `before` came first, and is still in use
  size_t bin;
} probe;

// A block that the thread's cache takes when it is freed. Its list may be full: malloc fills it with free chunks of that size when
// it takes one of them itself. Then this block is from the list. A free chunk that is a little too long is handed out whole.
static bool take_probe(probe *taken, size_t size) {
  taken->block = 0;
  if (!(taken->before = (uintptr_t)__libc_malloc(size))) return false;
  size_t same = undead_chunk_bytes(taken->before - CHUNK_HEADER) - sizeof(size_t);
  if (!(taken->block = (uintptr_t)__libc_malloc(same))) return false;
  taken->bin = (undead_chunk_bytes(taken->block - CHUNK_HEADER) - CHUNK_SMALLEST) >> 4;
  return true;
}

// Blocks that were just freed are the first in their lists.
static bool is_cache(uintptr_t cache, size_t lists, const probe *probes) {
  for (int i = 0; i < 2; i++)
    if (word_at(cache + lists + probes[i].bin * 8) != probes[i].block) return false;
  return true;
}

static bool find_lists(uintptr_t tp, const probe *probes) {
  for (size_t place = 8; place <= undead_image_facts.static_tls_bytes; place += 8) {
    uintptr_t cache = word_at(undead_thread_variable(tp, place));
    if (cache % 16 || !undead_is_readable(cache, CACHE_MOST_HEAD + CACHE_BINS * 8)) continue;
    for (size_t lists = CACHE_LEAST_HEAD; lists <= CACHE_MOST_HEAD; lists += 8) {
      if (!is_cache(cache, lists, probes)) continue;
      layout.place = place;
      layout.lists = lists;
      return true;
    }
  }
  return false;
}

static bool find_cache(uintptr_t tp) {
  // The hooks' lists may be longer than glibc's: what glibc frees is then not the first in them.
  if (undead_allocator_lists(&layout.place, &layout.lists)) return true;
  probe probes[2] = {0};
  bool taken = take_probe(&probes[0], 1000) && take_probe(&probes[1], 24);
  for (int i = 0; i < 2; i++) __libc_free((void *)probes[i].block);
  bool found = taken && find_lists(tp, probes);
  for (int i = 0; i < 2; i++) __libc_free((void *)probes[i].before);
  return found;
}

bool undead_arenas_are_known(void) {
  undead_glibc_ring ring = find_ring();
  uintptr_t bins = ring.main_bins, top = bins ? word_at(bins - BINS_TO_TOP) : 0;
  // Before anything was allocated of it, an arena's top is the arena.
  return ring.head && (top == bins - BINS_TO_TOP || (top % 16 == 0 && undead_is_readable(top, CHUNK_SMALLEST)));
}

bool undead_caches_are_known(void) {
  const char *tunables = getenv("GLIBC_TUNABLES");
  if (!layout.place) return tunables && strstr(tunables, "tcache");
  uintptr_t cache = word_at(undead_thread_variable(undead_thread_pointer(), layout.place));
  if (cache % 16 || !cache || !undead_is_readable(cache - CHUNK_HEADER, CHUNK_HEADER)) return !cache;
  // The lists end with the block that they are in, but for what malloc rounds up.
  uintptr_t end = layout.lists + bins_of_cache() * 8, size = undead_chunk_bytes(cache - CHUNK_HEADER) - CHUNK_SIZE;
  return size >= end && size - end <= CHUNK_SMALLEST;
}

// Each thread that has allocated keeps the address of its arena, beside that of its cache.
static size_t find_arena_of_thread(uintptr_t tp) {
  uintptr_t head = find_ring().head;
  for (size_t place = 8; head && place <= undead_image_facts.static_tls_bytes; place += 8)
    if (undead_glibc_is_arena(word_at(undead_thread_variable(tp, place)), head)) return place;
  return 0;
}

void undead_arenas_learn(void) {
  undead_allocator_refresh();
  if (layout.place || undead_glibc_found() || undead_allocator_is_other() || !undead_images_map()) return;
  const char *version = gnu_get_libc_version();
  layout.protected_links = version[0] == '2' && version[1] == '.' && undead_read_number(version + 2, 10, NULL) >= 32;
  uintptr_t tp = undead_thread_pointer();
  if (find_cache(tp)) undead_ending_threads_learn(layout.place, find_arena_of_thread(tp));
}
