// Memory that arenas have from the system, chunk by chunk.
#include "glibc/heap_internal.h"
#include "platform/maps/maps.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"

#define MOST_GAP (1ull << 30)      // of memory that others had from sbrk
#define MOST_HEAPS 1000000u

static uintptr_t head_in_use(uintptr_t at) { return undead_chunk_head(at) | CHUNK_PREVIOUS_IN_USE; }

// What ends a part that another one follows; 0 if it is none. In the main arena two headers, or three if there was room. In a heap
// a chunk that nobody has, and a header without a size.
static uintptr_t end_of_fence(const undead_arena *arena, uintptr_t at, uintptr_t limit) {
  uintptr_t size = undead_chunk_bytes(at), end = at;
  if (size > FENCE_MOST_BYTES || limit - at < 2 * FENCE_BYTES) return 0;
  if (arena->main) {
    while (limit - end >= CHUNK_HEADER && head_in_use(end) == (FENCE_BYTES | CHUNK_PREVIOUS_IN_USE)) end += FENCE_BYTES;
    return end - at >= 2 * FENCE_BYTES ? end : 0;
  }
  end += size;
  bool ends = head_in_use(at) == (size | CHUNK_PREVIOUS_IN_USE) && limit - end == FENCE_BYTES
    && undead_chunk_head(end) == CHUNK_PREVIOUS_IN_USE;
  return ends ? limit : 0;
}

static void take_chunk(undead_glibc_heap *heap, uintptr_t block, bool in_use) {
  if (in_use) heap->blocks++;
  else heap->free_chunks++;
  if (in_use) undead_registry_see(block);
  else undead_glibc_note_free(block);
}

enum { CHUNKS_AHEAD = 4 };

// Walks chunks from `low`; true if they end exactly: at the arena's top, or at a fence. `limit`: nothing of the arena's is there.
static bool walk_chunks(undead_glibc_heap *heap, const undead_arena *arena, uintptr_t low, uintptr_t limit, bool takes,
                        uintptr_t *end) {
  if (low % 16 || low >= limit || !undead_is_readable(low, limit - low)) return false;
  if (!(undead_chunk_head(low) & CHUNK_PREVIOUS_IN_USE)) return false;
  uintptr_t before[CHUNKS_AHEAD] = {low, low, low, low};
  for (uintptr_t at = low, next, count = 0; at + CHUNK_HEADER <= limit; at = next, count++) {
    // What follows is often as what came before.
    __builtin_prefetch((const void *)(2 * at - before[count % CHUNKS_AHEAD]));
    before[count % CHUNKS_AHEAD] = at;
    uintptr_t size = undead_chunk_bytes(at), flags = undead_chunk_head(at) & CHUNK_FLAGS;
    next = at + size;
    if (at == arena->top) {
      *end = next;
      return flags & CHUNK_PREVIOUS_IN_USE && size >= CHUNK_HEADER && size <= limit - at && size % 16 == 0;
    }
    if ((*end = end_of_fence(arena, at, limit))) return true;
    if (size < CHUNK_SMALLEST || size % 16 || size > limit - at - CHUNK_HEADER || flags & CHUNK_MAPPED) return false;
    bool in_use = undead_chunk_head(next) & CHUNK_PREVIOUS_IN_USE;
    if (!in_use && undead_glibc_word(next) != size) return false;
    if (in_use && !(flags & CHUNK_OF_OTHER_ARENA) != arena->main) return false;
    if (!takes) continue;
    take_chunk(heap, at + CHUNK_HEADER, in_use);
    __atomic_store_n(&heap->walked, at, __ATOMIC_RELAXED);
  }
  return false;
}

// Walks a part of an arena and takes its blocks and free chunks into the registry.
static undead_glibc_result take_part(undead_glibc_heap *heap, const undead_arena *arena, uintptr_t low, uintptr_t limit,
                                     uintptr_t *end) {
  enum { MANY = 32 << 20 };
  uintptr_t high = arena->top > low && arena->top < limit ? arena->top : limit;
  bool many = high - low >= MANY && heap->before_walk;
  __atomic_store_n(&heap->walked, low, __ATOMIC_RELAXED);
  if (many) heap->before_walk(low, high);
  bool walked = walk_chunks(heap, arena, low, limit, true, end);
  if (many) heap->after_walk();
  if (!walked)
    return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "the chunks of an arena of malloc's do not follow each other", low);
  if (!undead_glibc_add_area(heap, low, *end)) return UNDEAD_GLIBC_NO_MEMORY;
  undead_glibc_area *area = &heap->areas[heap->area_count - 1];
  area->chunks = true;
  if (arena->top >= low && arena->top < *end) area->top = arena->top;
  return UNDEAD_GLIBC_OK;
}

// Others that asked sbrk for memory have some between two parts of ours.
static uintptr_t find_next_part(undead_glibc_heap *heap, const undead_arena *arena, uintptr_t from, uintptr_t limit) {
  uintptr_t end;
  for (uintptr_t at = from; at < limit && at - from < MOST_GAP; at += 16)
    if (walk_chunks(heap, arena, at, limit, false, &end)) return at;
  return 0;
}

// The heap that sbrk gave: all of it up to the top, if it is in one piece.
static undead_glibc_result take_contiguous(undead_glibc_heap *heap, const undead_arena *arena, uintptr_t limit,
                                           uintptr_t system) {
  uintptr_t at = (limit - system + 15) & ~(uintptr_t)15, end = 0;
  while (end != limit) {
    undead_glibc_result result = take_part(heap, arena, at, limit, &end);
    if (result != UNDEAD_GLIBC_OK) return result;
    if (end == limit) break;
    at = find_next_part(heap, arena, end, limit);
    if (!at) return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "the main arena of malloc's has a gap", end);
  }
  heap->heaps++;
  return UNDEAD_GLIBC_OK;
}

static bool may_hold_parts(const undead_mapping *mapping) {
  return mapping->readable && mapping->writable && !mapping->shared && mapping->what == UNDEAD_MAPPED_NOTHING;
}

// Others may be guards of stacks, that fault.
static bool is_resident(uintptr_t page) {
  uint8_t resident = 0;
  return undead_raw3(SYS_mincore, (long)page, UNDEAD_PAGE, (long)&resident) == 0 && resident & 1;
}

// Where sbrk failed the main arena has pieces that were mapped, each from a page to a page: what they amount to is known.
static undead_glibc_result take_pieces(undead_glibc_heap *heap, const undead_arena *arena, uintptr_t system) {
  uintptr_t sum = 0, end;
  for (size_t i = 0; i < undead_mapping_count() && sum < system; i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    if (!may_hold_parts(mapping)) continue;
    for (uintptr_t at = mapping->low; at < mapping->high; at = end) {
      end = at + UNDEAD_PAGE;
      uintptr_t size = is_resident(at) ? undead_chunk_bytes(at) : 0;
      bool may_be = (undead_chunk_head(at) & CHUNK_FLAGS) == CHUNK_PREVIOUS_IN_USE && size >= CHUNK_SMALLEST;
      if (!may_be || !walk_chunks(heap, arena, at, mapping->high, false, &end) || end % UNDEAD_PAGE) {
        end = at + UNDEAD_PAGE;   // the walk may have changed it
        continue;
      }
      undead_glibc_result result = take_part(heap, arena, at, mapping->high, &end);
      if (result != UNDEAD_GLIBC_OK) return result;
      heap->heaps++;
      sum += end - at;
    }
  }
  if (sum == system) return UNDEAD_GLIBC_OK;
  return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "the parts of the main arena of malloc's are not all there", arena->top);
}

undead_glibc_result undead_glibc_take_main(undead_glibc_heap *heap, const undead_arena *arena) {
  uintptr_t system = undead_glibc_word(arena->bins + BINS_TO_SYSTEM_MEMORY);
  if (arena->top % 16 || !undead_is_readable(arena->top, CHUNK_HEADER))
    return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "the main arena of malloc's has no top", arena->top);
  uintptr_t limit = arena->top + undead_chunk_bytes(arena->top);
  if (*(const uint32_t *)(arena->start + ARENA_FLAGS) & ARENA_NOT_CONTIGUOUS) return take_pieces(heap, arena, system);
  if (system > limit) return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "the main arena of malloc's is too large", limit);
  return take_contiguous(heap, arena, limit, system);
}

static bool is_heap(uintptr_t at, const undead_arena *arena, uintptr_t most) {
  if (!undead_is_readable(at, HEAP_INFO) || undead_glibc_word(at + HEAP_ARENA) != arena->start) return false;
  uintptr_t size = undead_glibc_word(at + HEAP_SIZE);
  return size >= UNDEAD_PAGE && size <= most && size % UNDEAD_PAGE == 0 && undead_is_readable(at, size);
}

// The arena lies in its first heap, behind the heap's own header; every heap begins at a multiple of its greatest size (HEAP_MAX_SIZE),
// which is that of a long a number of times, or four huge pages (glibc.malloc.hugetlb=2): all powers of two are tried, the likely first.
static uintptr_t greatest_size(const undead_arena *arena) {
  static const uint8_t shifts[] = {26, 21, 22, 23, 24, 25, 27, 28, 29, 30, 31, 32};
  for (size_t i = 0; i < sizeof shifts; i++) {
    uintptr_t most = 1ull << shifts[i];
    uintptr_t info = arena->start & (most - 1);
    if (info != HEAP_INFO && info != HEAP_INFO_UNTIL_2_34) continue;
    if (is_heap(arena->start - info, arena, most) && is_heap(arena->top & ~(most - 1), arena, most)) return most;
  }
  return 0;
}

uintptr_t undead_glibc_greatest_heap(uintptr_t start, uintptr_t top) {
  undead_arena arena = {.start = start, .top = top};
  return greatest_size(&arena);
}

// The newest heap, which has the top, leads to the older ones.
undead_glibc_result undead_glibc_take_heaps(undead_glibc_heap *heap, const undead_arena *arena) {
  uintptr_t most = greatest_size(arena), sum = 0;
  if (!most) return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "an arena of malloc's does not lie in a heap", arena->start);
  uintptr_t info = arena->start & (most - 1), at = arena->top & ~(most - 1), first = arena->start - info;
  for (uint32_t count = 0; at && count < MOST_HEAPS; at = undead_glibc_word(at + HEAP_PREVIOUS), count++) {
    if (at % most || !is_heap(at, arena, most)) break;
    uintptr_t limit = at + undead_glibc_word(at + HEAP_SIZE), end = 0;
    uintptr_t low = at == first ? (arena->bins + BINS_TO_END + 15) & ~(uintptr_t)15 : at + info;
    undead_glibc_result result = take_part(heap, arena, low, limit, &end);
    if (result != UNDEAD_GLIBC_OK) return result;
    if (end != limit) break;
    if (!undead_glibc_add_area(heap, at, low)) return UNDEAD_GLIBC_NO_MEMORY;
    sum += limit - at;
    heap->heaps++;
    if (at != first) continue;
    bool all = undead_glibc_word(at + HEAP_PREVIOUS) == 0 && sum == undead_glibc_word(arena->bins + BINS_TO_SYSTEM_MEMORY);
    if (all) return UNDEAD_GLIBC_OK;
    break;
  }
  return undead_glibc_fail(heap, UNDEAD_GLIBC_UNSETTLED, "the heaps of an arena of malloc's do not lead to each other", at);
}
