// What a forked copy of the program does not have, or shares with the program that runs on, is copied before the
// program goes on.
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "record/sparse.h"
#include "scan/roots/roots_internal.h"
#include "world/proc_ids.h"

// More than that is quicker scanned where it is.
#define MOST_COPIED_BYTES (256ull << 20)
#define GROUP_BYTES (16ull << UNDEAD_TOUCH_SHIFT)
#define LEAF_BYTES (1ull << UNDEAD_LEAF_SHIFT)

typedef struct {
  undead_roots *roots;
  bool has_blocks;   // the mapping
} taking;

static bool is_used(const undead_leaf *leaf, uint64_t group) {
  return leaf->touched[group] || (undead_sparse_used && undead_sparse_group_used(leaf, group));
}

// The start of the last block that was recorded below `address` in memory without gaps, 0 if there is none.
static uintptr_t last_block_before(uintptr_t address) {
  uintptr_t at = address, group;
  for (; at && undead_mapping_of(at - 16); at = group) {
    const undead_leaf *leaf = undead_registry_leaf(at - 16);
    group = (at - 16) & ~((leaf ? GROUP_BYTES : LEAF_BYTES) - 1);
    if (!leaf || !is_used(leaf, (group >> 4 & (UNDEAD_LEAF_GRANULES - 1)) >> UNDEAD_TOUCH_SHIFT)) continue;
    while (at > group) {
      at -= 16;
      if (leaf->word[at >> 4 & (UNDEAD_LEAF_GRANULES - 1)] || undead_sparse_holds(leaf, at)) return at;
    }
  }
  return 0;
}

// True if recorded blocks lie there, or reach into it.
static bool holds_blocks(uintptr_t low, uintptr_t high) {
  uintptr_t last = last_block_before(high);
  return last && last + undead_block_size(last) > low;
}

static bool holds_stack(const undead_world *world, const undead_mapping *mapping) {
  undead_interval memory = {mapping->low, mapping->high};
  for (uint32_t i = 0; i < world->thread_count; i++) {
    const undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase != UNDEAD_THREAD_STOPPED) continue;
    if (undead_in(memory, thread->sp) || (thread->tp && undead_in(memory, thread->tp))) return true;
  }
  return false;
}

static void take_run(void *context, const undead_mapping *mapping, undead_interval run) {
  const taking *self = context;
  undead_roots *roots = self->roots;
  if (roots->only_in_place) return;
  bool copied = undead_roots_push_copy(roots, run);
  if (!mapping->readable) return;
  bool blocks = self->has_blocks && holds_blocks(run.low, run.high);
  if (!copied || blocks || roots->copies.bytes > MOST_COPIED_BYTES) roots->only_in_place = true;
}

static void take_mapping(undead_roots *roots, undead_pages *pages, const undead_mapping *mapping) {
  taking self = {roots, mapping->readable && holds_blocks(mapping->low, mapping->high)};
  undead_pages_each(pages, mapping, mapping->low, mapping->high, take_run, &self);
}

static bool is_lost_to_copies(const undead_pages *pages, const undead_mapping *mapping) {
  if (undead_owns_memory(mapping->low) || mapping->what == UNDEAD_MAPPED_KERNEL) return false;
  return mapping->shared || mapping->not_inherited || undead_pages_may_change(pages, mapping);
}

bool undead_roots_gather(undead_roots *roots, const undead_world *world) {
  undead_pages pages;
  if (!undead_pages_open(&pages, undead_proc_process())) return false;
  for (size_t i = 0; i < undead_mapping_count() && !roots->only_in_place; i++) {
    const undead_mapping *mapping = undead_mapping_at(i);
    if (!is_lost_to_copies(&pages, mapping)) continue;
    if (holds_stack(world, mapping)) roots->only_in_place = true;
    else take_mapping(roots, &pages, mapping);
    undead_mapping_take(i, true);
  }
  undead_copies_end(&roots->copies);
  undead_pages_close(&pages);
  return !roots->overflow && !roots->copies.no_memory;
}
