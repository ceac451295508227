#include "scan/view/view.h"
#include "platform/maps/inheritance.h"
#include "platform/maps/maps.h"
#include "scan/blocks/arenas.h"
#include "scan/roots/roots.h"
#include "scan/stacks/quiet.h"
#include "scan/stacks/stacks.h"
#include "scan/view/holes.h"
#include "world/images.h"

bool undead_view_prepare(undead_view *view) {
  if (!undead_images_refresh() || !undead_stale_open(&view->stale)) return false;
  undead_makers_open(&view->makers);
  undead_arenas_learn();
  undead_quiet_prepare();
  undead_numbers_refresh(&view->numbers);
  return true;
}

bool undead_view_prepare_counts(undead_view *view) {
  undead_makers_open(&view->makers);
  return true;
}

bool undead_view_open_counts(undead_view *view) { return undead_heap_open_starts(&view->heap); }

static bool open_heap(undead_view *view) {
  if (!undead_heap_open(&view->heap)) return false;
  undead_open_chosen(&view->hidden, &view->heap);
  if (!undead_hide_unreadable(&view->hidden, &view->heap)) return true;
  undead_heap_close(&view->heap);
  return !view->hidden.overflow && undead_heap_open(&view->heap);
}

// False if it cannot be scanned in a copy, as if nothing had been tried.
static bool gather_for_copy(undead_view *view, const undead_world *world) {
  undead_inheritance_note();
  if (undead_roots_gather(&view->roots, world) && !view->roots.only_in_place) return true;
  for (size_t i = 0; i < undead_mapping_count(); i++) undead_mapping_take(i, false);
  undead_roots_close(&view->roots);
  return false;
}

bool undead_view_gather(undead_view *view, const undead_world *world, undead_scan_options *options) {
  if (!undead_maps_refresh() || world->vectors_lost || !undead_roots_open(&view->roots)) return false;
  if (options->mode == UNDEAD_SCAN_FORK && !gather_for_copy(view, world)) {
    options->mode = UNDEAD_SCAN_IN_PLACE;
    if (!undead_roots_open(&view->roots)) return false;
  }
  return undead_roots_add_held(&view->roots, world);
}

bool undead_view_open(undead_view *view, const undead_world *world, const undead_scan_options *options) {
  if (!open_heap(view)) return false;
  undead_holes_find(&view->heap);
  undead_stale_find_cached(&view->stale, &view->heap, world);
  if (!undead_roots_find(&view->roots, world, &view->heap, &view->stale, options, undead_roots_add_stacks)) return false;
  undead_numbers_mark(&view->roots, &view->numbers);
  return undead_quiet_mark(&view->roots, world, options);
}

void undead_view_close(undead_view *view) {
  undead_hidden_restore(&view->hidden);   // the helper may have ended before it could
  undead_roots_close(&view->roots);
  undead_heap_close(&view->heap);
}

void undead_view_forget(undead_view *view) { undead_stale_close(&view->stale); }
