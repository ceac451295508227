#include "scan/view.h"
#include "platform/maps.h"
#include "scan/arenas.h"
#include "scan/quiet.h"
#include "world/images.h"

bool undead_view_prepare(undead_view *view) {
  if (!undead_images_refresh() || !undead_stale_open(&view->stale)) return false;
  undead_arenas_learn();
  undead_quiet_prepare();
  return true;
}

static bool open_heap(undead_view *view) {
  if (!undead_heap_open(&view->heap)) return false;
  if (!undead_hide_unreadable(&view->hidden, &view->heap)) return true;
  undead_heap_close(&view->heap);
  return !view->hidden.overflow && undead_heap_open(&view->heap);
}

static bool open_roots(undead_view *view, const undead_world *world, const undead_scan_options *options) {
  return undead_roots_open(&view->roots, world, &view->heap, &view->stale, options)
    && undead_quiet_mark(&view->roots, world, options);
}

bool undead_view_open(undead_view *view, const undead_world *world, undead_scan_options *options) {
  if (!undead_maps_refresh() || !open_heap(view)) return false;
  if (options->mode == UNDEAD_SCAN_FORK && !undead_maps_note_inheritance()) options->mode = UNDEAD_SCAN_IN_PLACE;
  undead_stale_find_cached(&view->stale, &view->heap, world);
  if (world->vectors_lost || !open_roots(view, world, options)) return false;
  if (options->mode == UNDEAD_SCAN_IN_PLACE || !view->roots.only_in_place) return true;
  undead_roots_close(&view->roots);
  options->mode = UNDEAD_SCAN_IN_PLACE;
  return open_roots(view, world, options);
}

void undead_view_close(undead_view *view) {
  undead_hidden_restore(&view->hidden);   // the helper may have ended before it could
  undead_roots_close(&view->roots);
  undead_heap_close(&view->heap);
}

void undead_view_forget(undead_view *view) { undead_stale_close(&view->stale); }
