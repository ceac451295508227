#include "platform/maps.h"
#include "platform/memory.h"
#include "platform/time_limit.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "scan/arenas.h"
#include "scan/census.h"
#include "scan/collect.h"
#include "scan/counts.h"
#include "scan/held.h"
#include "scan/hidden.h"
#include "scan/isas.h"
#include "scan/mark.h"
#include "scan/paths.h"
#include "scan/quiet.h"
#include "scan/suspects.h"
#include "world/clock.h"
#include "world/helper.h"
#include "world/images.h"
#include "world/world.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  undead_scan_options options;
  undead_storage *storage;
  undead_world world;
  undead_heap heap;
  undead_hidden hidden;
  undead_stale stale;
  undead_roots roots;
  undead_bodies bodies;
  undead_marker marker;
  undead_isas isas;
  undead_suspects suspects;
  undead_pathfinder paths;
  size_t mapped;
} scan_job;

// What the helper's work returns.
typedef enum { WORK_DONE, WORK_DENIED, WORK_STUCK, WORK_NO_MEMORY, WORK_COPY_FAILED, WORK_UNSEEN } work_end;

// Marks of a scan whose helper was killed are still in the registry.
static bool marks_left;

static bool mark_all(scan_job *job) {
  undead_marker *marker = &job->marker;
  if (marks_left) undead_heap_clear(&job->heap, UNDEAD_WORD_SCAN_BITS);
  marks_left = true;
  *marker = (undead_marker){.bodies = &job->bodies, .heap = &job->heap, .bit = UNDEAD_WORD_MARK};
  marker->result = &job->storage->result;
  marker->caller = job->options.caller_tid;
  marker->weak = UNDEAD_WEAK_IS_LISTED;
  if (job->options.suspects) {
    marker->note = undead_suspects_note;
    marker->context = &job->suspects;
  }
  undead_held_open(&job->bodies, &job->roots, &job->world, job->options.caller_tid);
  if (!undead_mark_roots(marker, &job->roots) || !undead_counts_decide(marker)) return false;
  job->storage->result.live_blocks = marker->blocks;
  job->storage->result.live_bytes = marker->bytes;
  return true;
}

// The block of a watched object that is still there, else 0.
static uintptr_t watched_block(scan_job *job, const undead_watched_target *target) {
  uintptr_t block = target->object;
  if (!undead_heap_starts(&job->heap, block)) return 0;
  size_t size = undead_block_size(block);
  if (size < ABI_OBJECT_HEADER) return 0;
  const uint64_t *words = (const uint64_t *)block;
  if (target->isa && words[0] != target->isa) return 0;
  if (target->side_table && words[ABI_OBJECT_REFCOUNT / sizeof *words] != target->side_table) return 0;
  bool object = undead_body_kind(&job->bodies, block, size) != UNDEAD_KIND_OTHER;
  return object && !undead_is_deiniting(&job->heap, block) ? block : 0;
}

static bool is_live(const scan_job *job, uintptr_t block) {
  return block && *undead_heap_word(&job->heap, block) & UNDEAD_WORD_MARK;
}

// Blocks whose retain paths are wanted: suspects, and what the caller asked for.
static uint32_t list_targets(scan_job *job, uintptr_t *targets) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < job->suspects.found_count; i++) targets[count++] = job->suspects.found[i].object;
  for (uint32_t i = 0; i < job->options.watched_count; i++) {
    uintptr_t block = watched_block(job, &job->options.watched[i]);
    if (is_live(job, block)) targets[count++] = block;
  }
  return count;
}

static bool find_paths(scan_job *job) {
  size_t bytes = (job->suspects.found_count + job->options.watched_count + 1ull) * sizeof(uintptr_t);
  uintptr_t *targets = undead_map(bytes);
  if (!targets) return false;
  uint32_t count = list_targets(job, targets);
  bool ok = !count
    || (undead_paths_open(&job->paths, job->storage, targets, count)
        && undead_paths_find(&job->paths, job->storage, &job->bodies, &job->roots, &job->options, job->marker.blocks));
  // Also those for whose path there was no room.
  for (uint32_t i = job->suspects.found_count; ok && i < count; i++)
    undead_collect_node(job->storage, &job->bodies, targets[i], UNDEAD_STATE_LIVE);
  undead_unmap(targets, bytes);
  return ok;
}

// The objects, what holds them, and the rest of their cycles.
static void list_suspect_nodes(scan_job *job) {
  undead_suspects *suspects = &job->suspects;
  for (uint32_t i = 0; i < suspects->found_count; i++) {
    undead_collect_node(job->storage, &job->bodies, suspects->found[i].object, UNDEAD_STATE_SUSPECT);
    undead_collect_node(job->storage, &job->bodies, suspects->found[i].mechanism, UNDEAD_STATE_LIVE);
  }
  for (uintptr_t block; (block = undead_worklist_pop(&suspects->members));)
    undead_collect_node(job->storage, &job->bodies, block, UNDEAD_STATE_LIVE);
}

static void list_suspects(scan_job *job, const undead_address_index *index) {
  undead_scan_result *result = &job->storage->result;
  for (uint32_t i = 0; i < job->suspects.found_count; i++) {
    const undead_found_suspect *found = &job->suspects.found[i];
    uint32_t node = undead_address_index_of(index, found->object);
    uint32_t mechanism = undead_address_index_of(index, found->mechanism);
    if (node == UINT32_MAX || mechanism == UINT32_MAX || result->suspect_count == job->storage->suspect_limit) continue;
    result->suspects[result->suspect_count++] =
      (undead_suspect){found->kind, node, mechanism, undead_path_to(&job->paths, found->object)};
  }
}

static void list_watched(scan_job *job, const undead_address_index *index) {
  undead_scan_result *result = &job->storage->result;
  for (uint32_t i = 0; i < job->options.watched_count; i++) {
    uintptr_t block = watched_block(job, &job->options.watched[i]);
    result->watched[result->watched_count++] = (undead_watched){
      .node = block ? undead_address_index_of(index, block) : UINT32_MAX,
      .path = is_live(job, block) ? undead_path_to(&job->paths, block) : UINT32_MAX,
    };
  }
}

static void list_items(scan_job *job, const undead_address_index *index) {
  undead_scan_result *result = &job->storage->result;
  for (uint32_t i = 0; i < job->options.loop_item_count; i++) {
    uintptr_t block = job->options.loop_items[i].object;
    bool there = undead_heap_starts(&job->heap, block);
    result->item_nodes[result->item_count++] = there ? undead_address_index_of(index, block) : UINT32_MAX;
  }
}

static bool list_findings(scan_job *job) {
  undead_scan_result *result = &job->storage->result;
  undead_address_index index;
  if (!undead_address_index_open(&index, result->nodes, sizeof *result->nodes, result->node_count)) return false;
  list_suspects(job, &index);
  list_watched(job, &index);
  list_items(job, &index);
  undead_address_index_close(&index);
  return true;
}

static bool analyse(scan_job *job) {
  undead_scan_result *result = &job->storage->result;
  if (!mark_all(job)) return false;
  if (job->options.census) {
    undead_census_count(job->options.census, &job->bodies);
    return true;
  }
  undead_collect_unreached(job->storage, &job->bodies);
  uint32_t unreached = result->node_count;
  job->bodies.exact = true;
  if (job->options.suspects && !undead_suspects_find(&job->suspects, &job->roots)) return false;
  if (!find_paths(job)) return false;
  list_suspect_nodes(job);
  if (!undead_collect_sort(job->storage, unreached)) return false;
  if (!undead_collect_edges(job->storage, &job->bodies, job->suspects.links, job->suspects.link_count)) return false;
  return list_findings(job) && (!job->paths.targets || undead_paths_settle(&job->paths, job->storage));
}

static int copy_work(void *context) { return analyse(context) ? WORK_DONE : WORK_NO_MEMORY; }

static bool open_heap(scan_job *job) {
  if (!undead_heap_open(&job->heap)) return false;
  if (!undead_hide_unreadable(&job->hidden, &job->heap)) return true;
  undead_heap_close(&job->heap);
  return !job->hidden.overflow && undead_heap_open(&job->heap);
}

static bool open_roots(scan_job *job) {
  return undead_roots_open(&job->roots, &job->world, &job->heap, &job->stale, &job->options)
    && undead_quiet_mark(&job->roots, &job->world, &job->options);
}

// All that can only be seen in the program itself, not in a copy of it. May find that a copy will not do.
static bool look_around(scan_job *job) {
  if (!undead_maps_refresh() || !open_heap(job)) return false;
  undead_scan_mode *mode = &job->options.mode;
  if (*mode == UNDEAD_SCAN_FORK && !undead_maps_note_inheritance()) *mode = UNDEAD_SCAN_IN_PLACE;
  undead_stale_find_cached(&job->stale, &job->heap, &job->world);
  job->bodies.heap = &job->heap;
  job->bodies.stale = &job->stale;
  if (job->world.vectors_lost || !open_roots(job)) return false;
  if (*mode == UNDEAD_SCAN_IN_PLACE || !job->roots.only_in_place) return true;
  undead_roots_close(&job->roots);
  *mode = UNDEAD_SCAN_IN_PLACE;
  return open_roots(job);
}

static void resume(scan_job *job) {
  undead_hidden_restore(&job->hidden);
  undead_world_resume(&job->world);
  job->storage->result.pause_nanoseconds = undead_now() - job->world.stopped_at;
}

static void note_stop(scan_job *job) {
  undead_scan_result *result = &job->storage->result;
  result->stop_method = job->world.method;
  result->thread_count = 1;
  for (uint32_t i = 0; i < job->world.thread_count; i++)
    result->thread_count += job->world.threads[i].phase == UNDEAD_THREAD_STOPPED;
}

static work_end scan_in_place(scan_job *job) {
  bool done = analyse(job);
  if (marks_left) undead_heap_clear(&job->heap, UNDEAD_WORD_SCAN_BITS);
  marks_left = false;
  resume(job);
  return done ? WORK_DONE : WORK_NO_MEMORY;
}

static work_end scan_copy(scan_job *job) {
  long copy = undead_helper_copy(copy_work, job);
  resume(job);
  if (copy < 0) return WORK_COPY_FAILED;
  undead_helper_report report = undead_helper_wait_copy(copy);
  return report.end == UNDEAD_HELPER_DONE ? (work_end)report.value : WORK_COPY_FAILED;
}

static int stopped_work(void *context) {
  scan_job *job = context;
  if (!undead_maps_refresh()) return WORK_UNSEEN;
  undead_stop_result stop = undead_world_stop(&job->world);
  if (stop == UNDEAD_STOP_DENIED) return WORK_DENIED;
  if (stop == UNDEAD_STOP_STUCK) return WORK_STUCK;
  if (stop == UNDEAD_STOP_UNSEEN) return WORK_UNSEEN;
  if (stop != UNDEAD_STOP_OK) return WORK_NO_MEMORY;
  note_stop(job);
  if (look_around(job)) return job->options.mode == UNDEAD_SCAN_FORK ? scan_copy(job) : scan_in_place(job);
  resume(job);
  return WORK_NO_MEMORY;
}

static void fail(scan_job *job, undead_scan_error error, const char *message) {
  undead_scan_result *result = &job->storage->result;
  result->error = error;
  snprintf(result->message, sizeof result->message, "%s", message);
  result->node_count = result->edge_count = result->path_count = result->step_count = result->suspect_count = 0;
  result->watched_count = result->item_count = 0;
}

static void fail_by_report(scan_job *job, const undead_helper_report *report) {
  char text[200];
  switch (report->end) {
  case UNDEAD_HELPER_DENIED:
    snprintf(text, sizeof text, "the process that scans could not be made: %s", strerror(report->value));
    fail(job, UNDEAD_SCAN_NO_HELPER, text);
    return;
  case UNDEAD_HELPER_TIMEOUT:
    snprintf(text, sizeof text, "the scan did not end within %u seconds and was given up (UNDEAD_SCAN_SECONDS)",
             undead_scan_limit_seconds());
    fail(job, UNDEAD_SCAN_TIMEOUT, text);
    return;
  case UNDEAD_HELPER_CRASHED:
    snprintf(text, sizeof text, "the scan failed with signal %d at address %#lx: the heap is damaged, or memory went away",
             report->value, report->fault);
    fail(job, UNDEAD_SCAN_CRASHED, text);
    return;
  default:
    snprintf(text, sizeof text, "the process that scans was killed by signal %d", report->value);
    fail(job, UNDEAD_SCAN_CRASHED, text);
  }
}

static void fail_by_work(scan_job *job, work_end end) {
  switch (end) {
  case WORK_DENIED:
  case WORK_STUCK:
    fail(job, UNDEAD_SCAN_NOT_STOPPED, job->world.message);
    return;
  case WORK_UNSEEN:
    fail(job, UNDEAD_SCAN_NOT_STOPPED, "/proc is not there, or hides this process: its threads and memory are unknown");
    return;
  case WORK_COPY_FAILED:
    fail(job, UNDEAD_SCAN_CRASHED, "the copy of the program could not be made, or ended early");
    return;
  default:
    fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
  }
}

// One attempt with one method; false if the system denies it and another one may be tried.
static bool stop_and_scan(scan_job *job, undead_stop_method method) {
  if (!undead_world_open(&job->world, method)) {
    fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
    return true;
  }
  bool tried = true;
  if (job->options.suspects && !undead_suspects_open(&job->suspects, &job->bodies, &job->options)) {
    fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
    undead_world_close(&job->world);
    return true;
  }
  bool ready = method == UNDEAD_STOP_PTRACE || undead_signals_prepare(&job->world);
  undead_helper_report report = {.end = UNDEAD_HELPER_DONE, .value = WORK_STUCK};
  if (ready) report = undead_helper_run(stopped_work, job, undead_scan_limit_seconds());
  if (ready && method == UNDEAD_STOP_SIGNALS) undead_signals_finish(&job->world);
  bool denied = report.end == UNDEAD_HELPER_DONE ? report.value == WORK_DENIED : report.value == SIGSYS;
  if (denied && method == UNDEAD_STOP_PTRACE && !undead_stop_preference()) tried = false;
  else if (report.end != UNDEAD_HELPER_DONE) fail_by_report(job, &report);
  else if (report.value != WORK_DONE) fail_by_work(job, (work_end)report.value);
  undead_hidden_restore(&job->hidden);   // the helper may have ended before it could
  undead_roots_close(&job->roots);
  undead_heap_close(&job->heap);
  undead_mark_close(&job->marker);
  undead_held_close(&job->bodies);
  undead_paths_close(&job->paths, job->storage);
  undead_suspects_close(&job->suspects);
  undead_world_close(&job->world);
  return tried;
}

static int isa_work(void *context) {
  undead_isas_collect(context);
  return 0;
}

// Types that are missed are scanned without their layouts, which is safe: the helper's fate does not matter here.
static void learn_layouts(scan_job *job) {
  if (!undead_isas_open(&job->isas)) return;
  undead_helper_run(isa_work, &job->isas, undead_scan_limit_seconds());
  undead_layouts_add(job->isas.list, job->isas.count);
  undead_isas_close(&job->isas);
}

static void run(scan_job *job) {
  if (undead_registry_dropped()) {
    fail(job, UNDEAD_SCAN_INCOMPLETE, "blocks could not be recorded for lack of memory: what they hold is unknown");
    return;
  }
  if (!undead_images_refresh() || !undead_stale_open(&job->stale)) {
    fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
    return;
  }
  undead_arenas_learn();
  learn_layouts(job);
  undead_quiet_prepare();
  int preference = undead_stop_preference();
  if (preference == UNDEAD_STOP_SIGNALS || !stop_and_scan(job, UNDEAD_STOP_PTRACE)) stop_and_scan(job, UNDEAD_STOP_SIGNALS);
  undead_stale_close(&job->stale);
  if (job->storage->result.error) return;
  if (!undead_collect_decide(job->storage)) fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
}

undead_scan_result *undead_scan(const undead_scan_options *options) {
  uint64_t start = undead_now();
  undead_scan_limit_refresh();
  scan_job *job = undead_map(sizeof *job);
  undead_storage *storage = undead_storage_open(options);
  if (!job || !storage) {
    if (job) undead_unmap(job, sizeof *job);
    if (storage) undead_storage_close(storage);
    return NULL;
  }
  job->options = *options;
  job->storage = storage;
  run(job);
  storage->result.scan_nanoseconds = undead_now() - start;
  undead_unmap(job, sizeof *job);
  return &storage->result;
}

void undead_scan_free(undead_scan_result *result) {
  if (result) undead_storage_close((undead_storage *)result);
}
