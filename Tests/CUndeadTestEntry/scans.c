#include "undead_supported.h"
#if UNDEAD_SUPPORTED && UNDEAD_TEST_ENTRY
#include "undead_test_scan.h"
#include "platform/images/c_library.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/memory/thread_state.h"
#include "runtime/abi.h"
#include "scan/bodies/body.h"
#include "scan/scan.h"
#include "scan/stacks/stale.h"
#include "session/check/check.h"
#include "world/descriptors.h"
#include "world/images.h"
#include <malloc.h>
#include <pthread.h>
#include <string.h>

typedef struct {
  undead_scan_options options;
  undead_test_scan_counts *counts;
} test_scan;

static void count(const undead_scan_result *result, undead_test_scan_counts *counts) {
  for (uint32_t i = 0; i < result->node_count; i++) {
    counts->leaked += result->nodes[i].state == UNDEAD_STATE_LEAKED;
    counts->raw += result->nodes[i].state == UNDEAD_STATE_RAW;
    counts->support += result->nodes[i].state == UNDEAD_STATE_SUPPORT;
  }
  for (uint32_t i = 0; i < result->suspect_count; i++) {
    if (result->suspects[i].kind < 6) counts->suspects_of_kind[result->suspects[i].kind]++;
    counts->suspects_with_path += result->suspects[i].path != UINT32_MAX;
  }
  counts->paths = result->path_count;
  if (result->path_count) {
    counts->path_strong = result->paths[0].strong;
    counts->path_counted = result->paths[0].counted;
    counts->path_shared = result->paths[0].shared;
  }
  counts->edges = result->edge_count;
  counts->live_blocks = result->live_blocks;
  counts->pause_nanoseconds = result->pause_nanoseconds;
  counts->scan_nanoseconds = result->scan_nanoseconds;
  counts->stop_method = result->stop_method;
  counts->error = result->error;
  memcpy(counts->message, result->message, sizeof counts->message);
}

static void *run(void *context) {
  test_scan *scan = context;
  undead_thread.ignored++;
  undead_modules_refresh();
  // One at a time, as all that look at the process do (session/check); where the instrument stands aside, nobody else does.
  undead_check *turn = undead_check_claim();
  undead_descriptors_keep();
  undead_scan_result *result = undead_scan(&scan->options);
  undead_descriptors_drop();
  if (turn) undead_check_release(turn);
  if (result) count(result, scan->counts);
  else scan->counts->error = UNDEAD_SCAN_NO_MEMORY;
  undead_scan_free(result);
  undead_thread.ignored--;
  return NULL;
}

void undead_test_scan(bool copy, bool suspects, const void *watched, undead_test_scan_counts *counts) {
  __builtin_unwind_init();   // saves all registers that belong to the caller
  memset(counts, 0, sizeof *counts);
  undead_watched_target target = {.object = (uintptr_t)watched};
  test_scan scan = {.counts = counts};
  scan.options.mode = copy ? UNDEAD_SCAN_FORK : UNDEAD_SCAN_IN_PLACE;
  scan.options.suspects = suspects;
  scan.options.watched = &target;
  scan.options.watched_count = watched != NULL;
  // What its registers and deeper frames hold while it makes the thread and begins to wait is chance.
  undead_scan_called_from(&scan.options, __builtin_frame_address(0));
  undead_thread.ignored++;
  pthread_t thread;
  if (undead_thread_start(&thread, 0, false, run, &scan) == 0) undead_thread_join(thread);
  else counts->error = UNDEAD_SCAN_NO_MEMORY;
  undead_thread.ignored--;
}

static void learn_variant(uintptr_t address, uintptr_t isa) {
  undead_variant variant = {.isa = isa};
  const undead_layout *layout = undead_layout_of(isa);
  if (!layout) return;
  variant.count = layout->deciding.count;
  memcpy(variant.words, (const void *)(address + layout->deciding.offset), variant.count * sizeof variant.words[0]);
  if (variant.count) undead_layouts_add_variants(&variant, 1);
}

size_t undead_test_evidence(const void *object, char *text, size_t text_size) {
  static undead_bodies bodies;
  static const undead_heap heap;
  static const undead_stale stale;
  undead_maps_refresh();
  undead_modules_refresh();
  uintptr_t address = (uintptr_t)object, isa = *(const uintptr_t *)object;
  undead_layouts_add(&isa, 1);
  learn_variant(address, isa);
  bodies = (undead_bodies){.heap = &heap, .stale = &stale, .exact = true};
  undead_body body;
  undead_body_of(&bodies, address, malloc_usable_size((void *)object), &body);
  size_t count = 0;
  uintptr_t end = body.high;
  if (!body.elements.range_count && body.layout) end = address + body.layout->word_count * 8ul;
  for (uintptr_t at = address + ABI_OBJECT_HEADER; at < end && count + 1 < text_size; at += 8)
    text[count++] = "rcn-"[undead_body_evidence(&body, at)];
  text[count] = 0;
  return count;
}

const void *undead_test_dispatch_data(void) {
  undead_modules_refresh();
  undead_images_refresh();
  if (!undead_maps_refresh()) return NULL;
  undead_stopped_thread thread = {.tp = undead_thread_pointer(), .tid = (int32_t)undead_raw3(SYS_gettid, 0, 0, 0)};
  return (const void *)undead_stale_dispatch_data(&thread);
}
#endif
