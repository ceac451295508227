// The steps of a scan that only read the view: references and marks, counts, suspects, paths, findings. Each works on what the
// one before it left: marks in the registry's words, then lists in the storage.
#pragma once
#include "scan/counts/counts.h"
#include "scan/view/collect.h"
#include "scan/mark/mark.h"
#include "scan/paths/paths.h"
#include "scan/suspects/suspects.h"
#include "scan/view/view.h"

typedef struct {
  undead_bodies bodies;
  undead_marker marker;
  undead_suspects suspects;
  undead_closed closed;
  undead_pathfinder paths;
  undead_worklist reasons;   // why what leaked is certain (certainty.h)
} undead_analysis;

// With the world running. False without memory.
bool undead_analysis_open(undead_analysis *analysis, const undead_scan_options *options);
// Fills `storage` and `options->census`, in the program or in a copy of it. Marks are left in the registry's words, also
// when it returns false: without memory.
bool undead_analysis_run(undead_analysis *analysis, undead_storage *storage, undead_view *view,
                         const undead_world *world, const undead_scan_options *options);
// The same for a count of all blocks (counts_only); nothing is marked.
void undead_analysis_count(undead_analysis *analysis, undead_storage *storage, undead_view *view,
                           const undead_scan_options *options);
void undead_analysis_close(undead_analysis *analysis, const undead_storage *storage);

// The last step (findings.c): the shortest paths to what was asked for and to suspects, and their nodes...
bool undead_findings_explain(undead_analysis *analysis, undead_storage *storage, const undead_view *view,
                             const undead_scan_options *options);
// ...and, when nodes and edges are in order, what the result says of them.
bool undead_findings_list(undead_analysis *analysis, undead_storage *storage, const undead_view *view,
                          const undead_scan_options *options);
