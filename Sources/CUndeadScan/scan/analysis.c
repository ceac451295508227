#include "scan/analysis.h"
#include "record/avoid.h"
#include "scan/counts/counts.h"
#include "scan/census.h"
#include "scan/graph/graph_walk.h"
#include "scan/bodies/held.h"
#include "scan/mark/mark.h"
#include "world/crew.h"

bool undead_analysis_open(undead_analysis *analysis, const undead_scan_options *options) {
  return !options->suspects || undead_suspects_open(&analysis->suspects, &analysis->bodies, options);
}

void undead_analysis_close(undead_analysis *analysis, const undead_storage *storage) {
  undead_mark_close(&analysis->marker);
  undead_held_close(&analysis->bodies);
  undead_address_set_close(&analysis->bodies.sure);
  undead_paths_close(&analysis->paths, storage);
  undead_suspects_close(&analysis->suspects);
  undead_closed_close(&analysis->closed);
  undead_worklist_close(&analysis->reasons);
}

// What only the kernel could hold is counted by itself, as it may hide leaks.
static bool decide_by_counts(undead_marker *marker, const undead_roots *roots) {
  if (!undead_counts_decide(marker)) return false;
  if (!roots->unseen) return true;
  uint64_t known = marker->blocks;
  marker->doubts_all = true;
  undead_mark_doubt_all(marker);
  if (!undead_counts_decide(marker)) return false;
  marker->result->unseen_blocks = marker->blocks - known;
  return true;
}

// Marks by exact references and by words of which nothing is known; then counts decide about the rest.
static bool mark_all(undead_analysis *analysis, undead_storage *storage, const undead_view *view,
                     const undead_world *world, const undead_scan_options *options) {
  undead_marker *marker = &analysis->marker;
  *marker = (undead_marker){.bodies = &analysis->bodies, .heap = &view->heap, .bit = UNDEAD_WORD_MARK};
  marker->result = &storage->result;
  marker->reasons = &analysis->reasons;
  marker->caller = options->caller_tid;
  marker->weak = UNDEAD_WEAK_IS_LISTED;
  marker->listed = UNDEAD_WORD_DOUBTED;
  marker->listed_by_place = UNDEAD_WORD_DOUBTED_BY_PLACE;
  // Another allocator that is asked for the size of a block may keep the answer for its thread.
  if (view->heap.glibc) marker->threads = undead_crew_size(options->mode == UNDEAD_SCAN_FORK);
  marker->together = undead_mark_together;
  if (options->suspects) {
    marker->note = undead_suspects_note;
    marker->context = &analysis->suspects;
    if (!options->only_dead_owners) undead_closed_prepare(&analysis->closed, marker);
  }
  undead_avoid_look();
  undead_held_open(&analysis->bodies, &view->roots, world, options->caller_tid);
  if (!undead_mark_roots(marker, &view->roots) || !undead_switched_doubt(marker, &view->roots)) return false;
  if (!undead_unsure_doubt(marker)) return false;
  if (!decide_by_counts(marker, &view->roots)) return false;
  bool closed = options->suspects && !options->only_dead_owners;
  if (closed && !undead_closed_find(&analysis->closed, marker, &view->roots)) return false;
  storage->result.live_blocks = marker->blocks;
  storage->result.live_bytes = marker->bytes;
  return true;
}

void undead_analysis_count(undead_analysis *analysis, undead_storage *storage, undead_view *view,
                           const undead_scan_options *options) {
  analysis->bodies.heap = &view->heap;
  analysis->bodies.makers = &view->makers;
  undead_census_count_all(options->census, &analysis->bodies);
  for (size_t i = 0; i < UNDEAD_CENSUS_TYPES; i++) {
    storage->result.live_blocks += options->census->entries[i].objects;
    storage->result.live_bytes += options->census->entries[i].bytes;
  }
}

bool undead_analysis_run(undead_analysis *analysis, undead_storage *storage, undead_view *view,
                         const undead_world *world, const undead_scan_options *options) {
  undead_scan_result *result = &storage->result;
  undead_bodies *bodies = &analysis->bodies;
  undead_suspects *suspects = &analysis->suspects;
  bodies->heap = &view->heap;
  bodies->stale = &view->stale;
  bodies->makers = &view->makers;
  if (!mark_all(analysis, storage, view, world, options)) return false;
  if (options->census) {
    if (options->census->entries) undead_census_count(options->census, bodies);
    return true;
  }
  undead_collect_unreached(storage, bodies);
  undead_certainty_note(storage, &analysis->reasons);
  uint32_t unreached = result->node_count;
  bodies->exact = true;
  if (options->suspects && !undead_suspects_find(suspects, &view->roots)) return false;
  if (!undead_findings_explain(analysis, storage, view, options)) return false;
  if (!undead_collect_sort(storage, unreached)) return false;
  if (!undead_collect_edges(storage, bodies, suspects->links, suspects->link_count)) return false;
  if (!undead_findings_list(analysis, storage, view, options)) return false;
  if (analysis->paths.targets && !undead_paths_settle(&analysis->paths, storage)) return false;
  if (!options->graph) return true;
  options->graph->timer_type = suspects->timer_type;
  options->graph->after_type = suspects->after_type;
  undead_graph_write(options->graph, bodies, view, world, options);
  return true;
}
