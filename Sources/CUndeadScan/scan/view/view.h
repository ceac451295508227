// The first step of a scan: what the memory of the stopped program is. Which blocks there are, and which words outside
// of them may name one.
#pragma once
#include "scan/blocks/heap.h"
#include "scan/blocks/hidden.h"
#include "scan/bodies/makers.h"
#include "scan/roots/roots.h"
#include "scan/scan.h"
#include "scan/stacks/stale.h"
#include "world/intervals.h"
#include "world/world.h"

typedef struct {
  undead_heap heap;
  undead_hidden hidden;
  undead_stale stale;
  undead_makers makers;
  undead_roots roots;
  undead_intervals numbers;
} undead_view;

// With the world running: learns what can only be asked then. False without memory.
bool undead_view_prepare(undead_view *view);
// What counts need of it.
bool undead_view_prepare_counts(undead_view *view);
bool undead_view_open_counts(undead_view *view);
// With the world stopped, in the program itself: takes what only the program has, or only while it stands still. The
// mode becomes UNDEAD_SCAN_IN_PLACE where a forked copy would not do. False without memory.
bool undead_view_gather(undead_view *view, const undead_world *world, undead_scan_options *options);
// The rest, with the world stopped or in a forked copy of it. The roots include registers that lie in `options`. False
// without memory.
bool undead_view_open(undead_view *view, const undead_world *world, const undead_scan_options *options);
// What was prepared stays.
void undead_view_close(undead_view *view);
void undead_view_forget(undead_view *view);
