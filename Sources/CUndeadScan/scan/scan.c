#include "platform/maps/holes.h"
#include "platform/maps/inheritance.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/time_limit.h"
#include "record/registry.h"
#include "record/sample.h"
#include "record/sparse.h"
#include "scan/analysis.h"
#include "scan/graph.h"
#include "scan/blocks/isas.h"
#include "scan/premises.h"
#include "scan/view/view.h"
#include "platform/system/clock.h"
#include "world/crew.h"
#include "world/helper.h"
#include "world/world.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Each finds more of the pages that fault.
#define MOST_ATTEMPTS 64

typedef struct {
  undead_scan_options options;
  undead_storage *storage;
  undead_world world;
  undead_view view;
  undead_analysis analysis;
  bool again;      // another attempt may do better
} scan_job;

// What the helper's work returns.
typedef enum {
  WORK_DONE, WORK_DENIED, WORK_STUCK, WORK_NO_MEMORY, WORK_COPY_FAILED, WORK_UNSEEN,
  WORK_COPY_LACKS,   // memory that the copy should have
  WORK_COPY_KILLED,  // from outside: by the kernel, which is short of memory, or by hand
} work_end;

// Marks of a scan whose helper was killed are still in the registry.
static bool marks_left;

static bool analyse(scan_job *job) {
  undead_sparse_expand();
  if (job->options.counts_only) {
    if (!undead_view_open_counts(&job->view)) return false;
    undead_analysis_count(&job->analysis, job->storage, &job->view, &job->options);
    return true;
  }
  if (!undead_view_open(&job->view, &job->world, &job->options)) return false;
  if (marks_left) undead_heap_clear(&job->view.heap, UNDEAD_WORD_SCAN_BITS);
  marks_left = true;
  return undead_analysis_run(&job->analysis, job->storage, &job->view, &job->world, &job->options);
}

static int copy_work(void *context) {
  scan_job *job = context;
  // A count reads blocks, and nothing else; where one is not there, the copy ends and the count is made in place.
  if (job->options.counts_only) return analyse(job) ? WORK_DONE : WORK_NO_MEMORY;
  if (!undead_inheritance_held()) return WORK_COPY_LACKS;
  undead_maps_hide_taken();
  return analyse(job) ? WORK_DONE : WORK_NO_MEMORY;
}

static void resume(scan_job *job) {
  undead_helper_before_crash(NULL, NULL);
  undead_hidden_restore(&job->view.hidden);
  undead_sparse_collapse();
  undead_world_resume(&job->world);
  job->storage->result.pause_nanoseconds = undead_now() - job->world.stopped_at;
}

// The program is to go on as after any other stop.
static void resume_at_crash(void *job) { resume(job); }

static void note_stop(scan_job *job) {
  undead_scan_result *result = &job->storage->result;
  result->stop_method = job->world.method;
  result->thread_count = 1;
  for (uint32_t i = 0; i < job->world.thread_count; i++)
    result->thread_count += job->world.threads[i].phase == UNDEAD_THREAD_STOPPED;
}

static work_end scan_in_place(scan_job *job) {
  bool done = analyse(job);
  if (marks_left && job->view.heap.regions) {
    undead_heap_clear(&job->view.heap, UNDEAD_WORD_SCAN_BITS);
    marks_left = false;
  }
  resume(job);
  return done ? WORK_DONE : WORK_NO_MEMORY;
}

static work_end scan_copy(scan_job *job) {
  long copy = undead_helper_copy(copy_work, job);
  resume(job);
  if (copy < 0) return WORK_COPY_FAILED;
  undead_helper_report report = undead_helper_wait_copy(copy);
  if (report.end == UNDEAD_HELPER_CRASHED) undead_helper_crash(&report);
  if (report.end == UNDEAD_HELPER_KILLED && report.value == SIGKILL) return WORK_COPY_KILLED;
  return report.end == UNDEAD_HELPER_DONE ? (work_end)report.value : WORK_COPY_FAILED;
}

static int stopped_work(void *context) {
  scan_job *job = context;
  if (!undead_maps_refresh()) return WORK_UNSEEN;
  bool looks_around = job->options.mode == UNDEAD_SCAN_FORK && !job->options.counts_only;
  if (looks_around && !undead_inheritance_learn()) job->options.mode = UNDEAD_SCAN_IN_PLACE;
  undead_stop_result stop = undead_world_stop(&job->world);
  if (stop == UNDEAD_STOP_DENIED) return WORK_DENIED;
  if (stop == UNDEAD_STOP_STUCK) return WORK_STUCK;
  if (stop == UNDEAD_STOP_UNSEEN) return WORK_UNSEEN;
  if (stop != UNDEAD_STOP_OK) return WORK_NO_MEMORY;
  note_stop(job);
  undead_helper_before_crash(resume_at_crash, job);
  undead_sample_prepare();
  if (job->options.counts_only || undead_view_gather(&job->view, &job->world, &job->options))
    return job->options.mode == UNDEAD_SCAN_FORK ? scan_copy(job) : scan_in_place(job);
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

static bool is_hole(const undead_helper_report *report) {
  return (report->value == SIGSEGV || report->value == SIGBUS) && undead_hole_note(report->fault);
}

// What a copy could not do, its memory being taken back or never there, can still be done where the memory lies.
static void try_in_place(scan_job *job) {
  if (job->options.mode == UNDEAD_SCAN_IN_PLACE) return;
  job->options.mode = UNDEAD_SCAN_IN_PLACE;
  job->again = true;
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
    job->again = is_hole(report);
    if (!job->again) try_in_place(job);
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
  case WORK_COPY_LACKS:
  case WORK_COPY_FAILED:
    try_in_place(job);
    fail(job, UNDEAD_SCAN_CRASHED, "the copy of the program could not be made, or ended early");
    return;
  case WORK_COPY_KILLED:
    // Not in place: what the copy needed would then be taken from the program's room.
    fail(job, UNDEAD_SCAN_NO_MEMORY, "the copy of the program was killed, as the kernel does when memory is short");
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
  if (!undead_analysis_open(&job->analysis, &job->options)) {
    fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
    undead_world_close(&job->world);
    return true;
  }
  bool ready = method == UNDEAD_STOP_PTRACE || undead_signals_prepare(&job->world);
  undead_helper_report report = {.end = UNDEAD_HELPER_DONE, .value = WORK_STUCK};
  undead_helper_keep(job->options.graph ? job->options.graph->file : -1);
  if (ready) report = undead_helper_run(stopped_work, job, undead_scan_limit_seconds());
  if (ready && method == UNDEAD_STOP_SIGNALS) undead_signals_finish(&job->world);
  bool filtered = report.end != UNDEAD_HELPER_DONE && report.value == SIGSYS;
  if (filtered && undead_crew_gives_up()) job->again = true;
  bool denied = report.end == UNDEAD_HELPER_DONE ? report.value == WORK_DENIED : filtered && !job->again;
  if (denied && method == UNDEAD_STOP_PTRACE && !undead_stop_preference()) tried = false;
  else if (report.end != UNDEAD_HELPER_DONE) fail_by_report(job, &report);
  else if (report.value != WORK_DONE) fail_by_work(job, (work_end)report.value);
  undead_view_close(&job->view);
  undead_analysis_close(&job->analysis, job->storage);
  if (job->again) memset(&job->analysis, 0, sizeof job->analysis);
  undead_world_close(&job->world);
  return tried;
}

static int isa_work(void *context) {
  undead_isas_collect(context);
  return 0;
}

static bool collect_isas(undead_isas *isas) {
  if (!undead_isas_open(isas)) return false;
  isas->witnesses = undead_premises_native_witnesses();
  for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    undead_helper_report report = undead_helper_run(isa_work, isas, undead_scan_limit_seconds());
    if (report.end != UNDEAD_HELPER_CRASHED || !is_hole(&report)) break;
  }
  return true;
}

static const char *unexpected_in(const undead_isas *isas) {
  if (isas->strangers) return "the metadata of some objects of this program";
  if (isas->odd) return "the metadata of closures of this program";
  return !isas->count && isas->alike ? "the metadata of all objects of this program" : NULL;
}

// Types that are missed are scanned without their layouts, which is safe. The program runs: memory may go away, and what it makes
// meanwhile may lie in memory that it maps meanwhile. So only what is not as expected twice, under two memory maps, counts.
static void learn_layouts(void) {
  undead_isas isas;
  if (!collect_isas(&isas)) return;
  if (unexpected_in(&isas)) {
    undead_isas_close(&isas);
    if (!collect_isas(&isas)) return;
  }
  undead_layouts_add(isas.list, isas.count);
  undead_layouts_add_variants(isas.variants->list, isas.variants->count);
  if (unexpected_in(&isas)) undead_premises_refute(unexpected_in(&isas));
  undead_isas_close(&isas);
}

// An answer that rests on what is not as expected is none.
static bool knows_process(scan_job *job) {
  char text[UNDEAD_PREMISE_TEXT];
  if (undead_premises_hold(text, sizeof text)) return true;
  fail(job, UNDEAD_SCAN_UNKNOWN, text);
  return false;
}

static void run(scan_job *job) {
  if (undead_registry_dropped()) {
    fail(job, UNDEAD_SCAN_INCOMPLETE, "blocks could not be recorded for lack of memory: what they hold is unknown");
    return;
  }
  undead_holes_refresh();
  bool counts = job->options.counts_only;
  if (!(counts ? undead_view_prepare_counts(&job->view) : undead_view_prepare(&job->view))) {
    fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
    return;
  }
  if (!knows_process(job)) return;
  if (!counts) learn_layouts();
  if (!knows_process(job)) return;
  uint64_t end = undead_now() + undead_scan_limit_seconds() * 1000000000ull;
  for (int attempt = 0; !attempt || (job->again && attempt < MOST_ATTEMPTS && undead_now() < end); attempt++) {
    job->again = false;
    undead_storage_clear(job->storage, &job->options);
    bool by_signals = undead_stop_preference() == UNDEAD_STOP_SIGNALS;
    if (by_signals || !stop_and_scan(job, UNDEAD_STOP_PTRACE)) stop_and_scan(job, UNDEAD_STOP_SIGNALS);
  }
  undead_view_forget(&job->view);
  if (job->storage->result.error) return;
  if (!counts && !undead_collect_decide(job->storage)) fail(job, UNDEAD_SCAN_NO_MEMORY, "there is not enough memory for the scan");
}

void undead_scan_called_from(undead_scan_options *options, const void *frame) {
  enum { SAVED_REGISTER_BYTES = 48 };
  const uintptr_t *words = frame;   // the caller's rbp, then the return address
  options->caller_tid = (int32_t)syscall(SYS_gettid);
  options->caller_sp = (uintptr_t)frame - SAVED_REGISTER_BYTES;
  options->caller_registers[1] = words[0];
  options->caller_pc = words[1];
  options->caller_frame = (uintptr_t)(words + 2);
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
  job->options.kept_at = (uintptr_t)options;
  job->storage = storage;
  run(job);
  storage->result.scan_nanoseconds = undead_now() - start;
  undead_unmap(job, sizeof *job);
  return &storage->result;
}

void undead_scan_free(undead_scan_result *result) {
  if (result) undead_storage_close((undead_storage *)result);
}
