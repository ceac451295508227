// Marks with several threads of the helper's crew: each has a marker of its own, blocks are handed over by a pool, and at the end
// what was counted is added up.
#include "scan/mark/mark.h"
#include "platform/memory/memory.h"
#include "world/crew.h"
#include <assert.h>

// What each of the others has for itself.
typedef struct {
  undead_marker marker;
  undead_bodies bodies;
  undead_makers makers;
} member;

typedef struct {
  member *members;   // by index - 1
  undead_pool pool;
} team;

static void work(void *context, uint32_t index) {
  team *self = context;
  undead_mark_with_others(&self->members[index - 1].marker);
}

// Caches are filled by each for itself.
static void prepare(member *member, const undead_marker *first) {
  const undead_bodies *bodies = first->bodies;
  member->bodies = (undead_bodies){.heap = bodies->heap, .stale = bodies->stale, .closure_of_c = bodies->closure_of_c,
                                   .exact = bodies->exact, .held = bodies->held, .held_count = bodies->held_count,
                                   .doubts_unsure = bodies->doubts_unsure, .sure = bodies->sure};
  if (bodies->makers) {
    member->makers = *bodies->makers;
    member->bodies.makers = &member->makers;
  }
  member->marker = (undead_marker){.bodies = &member->bodies, .heap = first->heap, .bit = first->bit, .listed = first->listed,
                                   .listed_by_place = first->listed_by_place, .weak = first->weak, .context = first->context,
                                   .result = first->result, .only_threads = first->only_threads, .note = first->note,
                                   .pool = first->pool};
}

static void add_marker(undead_marker *first, undead_marker *other) {
  first->blocks += other->blocks;
  first->bytes += other->bytes;
  first->bodies->met_unsure |= other->bodies->met_unsure;
  for (uintptr_t listed; (listed = undead_worklist_pop(&other->doubted));) undead_worklist_push(&first->doubted, listed);
  first->waiting.no_memory |= other->waiting.no_memory | other->doubted.no_memory | other->for_first.no_memory;
  undead_mark_close(other);
}

static void mark_as_team(undead_marker *marker, team *self) {
  uint32_t others = undead_crew_start(marker->threads - 1, work, self);
  if (!others) {
    marker->threads = 1;
    return;
  }
  __atomic_store_n(&self->pool.threads, others + 1, __ATOMIC_RELEASE);
  undead_mark_with_others(marker);
  undead_crew_join();
  for (uint32_t i = 0; i < others; i++) add_marker(marker, &self->members[i].marker);
  marker->waiting.no_memory |= self->pool.blocks.no_memory | self->pool.for_first.no_memory;
}

void undead_mark_together(undead_marker *marker) {
  assert(!marker->except && !marker->within && !marker->cut);
  team self = {.pool = {.threads = UINT32_MAX}};
  size_t bytes = (marker->threads - 1) * sizeof *self.members;
  self.members = undead_map(bytes);
  if (!self.members) {
    marker->threads = 1;
    return;
  }
  marker->pool = &self.pool;
  marker->is_first = true;
  for (uint32_t i = 0; i < marker->threads - 1; i++) prepare(&self.members[i], marker);
  mark_as_team(marker, &self);
  marker->pool = NULL;
  undead_pool_close(&self.pool);
  undead_unmap(self.members, bytes);
}
