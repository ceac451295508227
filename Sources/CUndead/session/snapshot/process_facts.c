// What a snapshot says of the process and of the check itself: key and value, counters, and notes in words. Each fact is one
// function here, and one key in Documentation/snapshot-format.md. Collected when the world runs again, before the tables of names
// are written.
#include "session/snapshot/snapshot.h"
#include "platform/images/c_library.h"
#include "platform/system/clock.h"
#include "undead_attach.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "record/allocator.h"
#include "record/claims.h"
#include "record/generations.h"
#include "record/mode.h"
#include "record/sample.h"
#include "runtime/layout.h"
#include "runtime/runtime.h"
#include "scan/premises.h"
#include "zombies/premises.h"
#include "session/state/process.h"
#include "session/buffers/buffers.h"
#include "unwind/backtrace.h"
#include "world/given.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ARGUMENT_BYTES (256u << 10)

static void add_meta(undead_process_facts *facts, const char *key, const char *value) {
  uint32_t pair[2] = {undead_string_add(facts->strings, key), undead_string_add(facts->strings, value)};
  if (!undead_vector_append(&facts->meta, pair, sizeof(pair))) facts->failed = true;
}

static void add_number(undead_process_facts *facts, const char *key, int64_t number) {
  char digits[32];
  undead_text text = undead_text_in(digits, sizeof(digits));
  undead_text_number(&text, number);
  add_meta(facts, key, digits);
}

// A time in nanoseconds, as seconds with three decimals.
static void add_seconds(undead_process_facts *facts, const char *key, uint64_t nanoseconds) {
  char digits[40];
  undead_text text = undead_text_in(digits, sizeof(digits));
  undead_text_number(&text, (int64_t)(nanoseconds / 1000000000));
  undead_text_add(&text, ".");
  uint64_t thousandths = nanoseconds / 1000000 % 1000;
  for (uint64_t place = 100; place > 0; place /= 10) undead_text_number(&text, (int64_t)(thousandths / place % 10));
  add_meta(facts, key, digits);
}

static void add_counter(undead_process_facts *facts, const char *key, uint64_t number) {
  struct {
    uint32_t key, unused;
    uint64_t number;
  } entry = {undead_string_add(facts->strings, key), 0, number};
  if (!undead_vector_append(&facts->counters, &entry, sizeof(entry))) facts->failed = true;
}

static void add_note(undead_process_facts *facts, const char *note) {
  uint32_t string = undead_string_add(facts->strings, note);
  if (!undead_vector_append(&facts->notes, &string, sizeof(string))) facts->failed = true;
}

static void add_path(undead_process_facts *facts) {
  char path[4096];
  ssize_t length = readlink("/proc/thread-self/exe", path, sizeof(path) - 1);
  path[length > 0 ? length : 0] = 0;
  add_meta(facts, "path", path);
}

static void add_arguments(undead_process_facts *facts) {
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  undead_vector text = {0};
  ssize_t got = 1;
  while (got > 0 && text.size < ARGUMENT_BYTES && undead_vector_reserve(&text, 4097)) {
    got = read(file, text.bytes + text.size, 4096);
    if (got > 0) text.size += (size_t)got;
    else if (got < 0 && errno == EINTR) got = 1;
  }
  close(file);
  // The zero after the last one is there even if the text was cut off: the memory is fresh.
  for (size_t at = 0; at < text.size;) {
    const char *argument = (const char *)text.bytes + at;
    add_meta(facts, "argument", argument);
    while (text.bytes[at] != 0) at++;
    at++;
  }
  undead_vector_free(&text);
}

// By a function that is never the instrument's own: those for zombies, such as swift_retain, are.
static void add_runtime(undead_process_facts *facts) {
  const undead_module *module =
    undead_runtime_find() ? undead_module_of((uintptr_t)undead_runtime.type_by_mangled_name) : NULL;
  if (module) add_meta(facts, "swiftRuntime", module->path);
}

// What the answer rests on, and whether it holds here.
static void add_premises(undead_process_facts *facts) {
  const undead_premises *premises = undead_premises_result();
  if (!premises) return;
  char text[UNDEAD_PREMISE_TEXT];
  static bool knows_zombies, knows_dead;
  undead_premises zombies = {0};
  if (!knows_zombies && undead_premises_of_zombies(&zombies)) {
    undead_premises_include(&zombies);
    knows_zombies = true;
  }
  zombies = (undead_premises){0};
  if (!knows_dead && undead_premises_of_dead_classes(&zombies)) {
    undead_premises_include(&zombies);
    knows_dead = true;
  }
  add_number(facts, "premises", premises->checked);
  if (premises->absent) add_number(facts, "premisesUnchecked", premises->absent);
  for (int use = 0; use < UNDEAD_PREMISE_USES; use++) {
    if (!undead_premises_describe((undead_premise_use)use, text, sizeof text)) continue;
    add_meta(facts, "premiseFailed", text);
    if (use != UNDEAD_PREMISE_LEAKS) add_note(facts, text);   // that one is the message of the scan
  }
}

static void add_times(undead_process_facts *facts) {
  uint64_t start = undead_session_start_time(), end = undead_wall_time();
  add_seconds(facts, "startedAt", start);
  add_seconds(facts, "durationSeconds", end > start ? end - start : 0);
}

static void collect_counters(undead_process_facts *facts, const undead_scan_result *result) {
  add_counter(facts, "liveBlocks", result->live_blocks);
  add_counter(facts, "liveBytes", result->live_bytes);
  add_counter(facts, "pauseNanoseconds", result->pause_nanoseconds);
  add_counter(facts, "scanNanoseconds", result->scan_nanoseconds);
  add_counter(facts, "unreachableCBlocks", result->unreachable_c_blocks);
  add_counter(facts, "unreachableCBytes", result->unreachable_c_bytes);
  add_counter(facts, "unreachableOwnBlocks", result->unreachable_own_blocks);
  add_counter(facts, "unreachableOwnBytes", result->unreachable_own_bytes);
  add_counter(facts, "unreachableOwnMost", result->unreachable_own_most);
  add_counter(facts, "unreachableMessages", result->unreachable_messages);
  if (result->unreachable_own_site[0]) add_meta(facts, "unreachableOwnSite", result->unreachable_own_site);
  add_counter(facts, "droppedBacktraces", undead_backtrace_dropped());
  add_counter(facts, "droppedNodes", result->dropped_nodes);
  add_counter(facts, "backtraceBytes", undead_backtrace_bytes());
  add_counter(facts, "threads", result->thread_count);
}

// What became of the leaks that earlier checks of this process found.
static void add_claims(undead_process_facts *facts) {
  if (!undead_claims_checks()) return;
  undead_claim_counts counts = undead_claims_count();
  add_counter(facts, "earlierChecks", undead_claims_checks());
  add_counter(facts, "earlierLeaks", counts.claimed);
  add_counter(facts, "refutedLeaks", counts.refuted);
  add_counter(facts, "namedLeaks", counts.named);
  add_counter(facts, "revivedLeaks", counts.revived);
  if (counts.forgotten) add_counter(facts, "forgottenLeaks", counts.forgotten);
}

static void add_samples(undead_process_facts *facts) {
  if (undead_record_mode != UNDEAD_RECORD_SAMPLED) return;
  undead_sample_statistics samples = undead_sample_read();
  add_number(facts, "sampleBytes", (int64_t)samples.mean);
  if (samples.least != samples.most) {
    add_number(facts, "sampleBytesMin", (int64_t)samples.least);
    add_number(facts, "sampleBytesMax", (int64_t)samples.most);
  }
  add_counter(facts, "samples", samples.samples);
  add_counter(facts, "liveSamples", samples.live);
  add_counter(facts, "droppedSamples", samples.dropped);
  add_counter(facts, "droppedSampleStacks", samples.dropped_stacks);
  add_counter(facts, "sampleNanoseconds", samples.nanoseconds);
  add_counter(facts, "sampleStoreBytes", samples.store_bytes);
}

// Nothing false is reported then, but less.
static void add_allocator(undead_process_facts *facts) {
  const char *gap = undead_allocator_gap();
  if (!gap) return;
  char note[512];
  undead_text text = undead_text_in(note, sizeof note);
  undead_text_join(&text, "not all that ", undead_allocator_name(), " does is seen (", gap,
                          "): all of its memory counts as in use, which may hide leaks");
  add_note(facts, note);
}

static void add_left_out(undead_process_facts *facts, uint64_t objects) {
  if (!objects) return;
  char note[128];
  undead_text text = undead_text_in(note, sizeof note);
  undead_text_number(&text, objects);
  undead_text_add(&text, " more objects that one timer or task alone keeps are not listed");
  add_note(facts, note);
}

static void add_unseen(undead_process_facts *facts, uint64_t blocks) {
  if (!blocks) return;
  char note[256];
  undead_text text = undead_text_in(note, sizeof note);
  undead_text_add(&text, "not all that the kernel holds for the program is known (io_uring, asynchronous I/O, waiting "
                         "datagrams, more than 512 waiting signals, or a core file): ");
  undead_text_number(&text, blocks);
  undead_text_add(&text, blocks == 1 ? " block that nothing in memory holds is taken for alive"
                                     : " blocks that nothing in memory holds are taken for alive");
  add_note(facts, note);
}

static void add_told_notes(undead_process_facts *facts, const undead_facts *told) {
  const uint32_t *notes = (const uint32_t *)told->notes.bytes;
  for (size_t i = 0; i < told->notes.size / sizeof(*notes); i++) add_note(facts, undead_facts_text(told, notes[i]));
}

static void add_each_argument(undead_process_facts *facts, const char *text) {
  char argument[4096];
  for (size_t length; *text; text += length + (text[length] == ' ')) {
    length = strcspn(text, " ");
    size_t kept = length < sizeof(argument) - 1 ? length : sizeof(argument) - 1;
    memcpy(argument, text, kept);
    argument[kept] = 0;
    add_meta(facts, "argument", argument);
  }
}

// Put into the program while it ran.
static void add_recording(undead_process_facts *facts, const undead_replica_request *replica) {
  uint64_t since = undead_recording_since;
  if (!since) return;
  add_seconds(facts, "recordedSince", since);
  char note[160];
  undead_text text = undead_text_in(note, sizeof(note));
  undead_text_add(&text, "recording began ");
  undead_text_number(&text, replica->taken > since ? (replica->taken - since) / 1000000000u : 0);
  undead_text_add(&text, " s before this look: what was allocated earlier has no backtrace");
  add_note(facts, note);
}

// Of the program that a replica was made of.
static void add_replica(undead_process_facts *facts, const undead_replica_request *replica) {
  add_meta(facts, "path", (const char *)replica->executable);
  add_each_argument(facts, (const char *)replica->arguments);
  add_number(facts, "pid", replica->pid);
  add_seconds(facts, "startedAt", replica->started);
  add_seconds(facts, "durationSeconds", replica->taken > replica->started ? replica->taken - replica->started : 0);
  add_meta(facts, "recorded", replica->flags & UNDEAD_REPLICA_CORE ? "core" : "attach");
  add_recording(facts, replica);
}

static void add_process(undead_process_facts *facts) {
  add_path(facts);
  add_arguments(facts);
  add_number(facts, "pid", getpid());
  add_number(facts, "parentPid", getppid());
  if (undead_session_forked_from()) add_number(facts, "forkedFrom", undead_session_forked_from());
  add_times(facts);
}

void undead_process_facts_collect(undead_process_facts *facts, const char *trigger, const undead_scan_result *result,
                                  const undead_facts *told) {
  if (undead_replica_now()) add_replica(facts, undead_replica_now());
  else add_process(facts);
  add_meta(facts, "trigger", trigger);
  add_meta(facts, "architecture", "x86_64");
  add_meta(facts, "stopMethod", result->stop_method == 2 ? "signals" : "ptrace");
  add_meta(facts, "toolVersion", UNDEAD_VERSION);
  add_runtime(facts);
  add_premises(facts);
  collect_counters(facts, result);
  add_samples(facts);
  add_claims(facts);
  if (result->error != 0) add_note(facts, result->message);
  if (undead_session_has_gaps())
    add_note(facts, "recording did not cover the whole run: leaks of what was allocated before are not seen; "
                    "start the program with UNDEAD=1");
  add_unseen(facts, result->unseen_blocks);
  add_left_out(facts, result->alone_left_out);
  add_allocator(facts);
  if (told) add_told_notes(facts, told);
}

// jemalloc says what it has, in the process that it works for: mallctl of its manual.
extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size) __attribute__((weak));

static void add_statistics(undead_process_facts *facts) {
  static const struct { const char *statistic, *counter; } known[] = {
    {"stats.allocated", "allocatorAllocated"}, {"stats.active", "allocatorActive"},
    {"stats.metadata", "allocatorMetadata"}, {"stats.resident", "allocatorResident"},
  };
  if (!mallctl || !undead_allocator_is_other() || undead_given()) return;
  uint64_t epoch = 1;
  size_t size = sizeof epoch, value;
  // They are those of the last time that the epoch was set.
  if (mallctl("epoch", &epoch, &size, &epoch, size) != 0) return;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    size = sizeof value;
    if (mallctl(known[i].statistic, &value, &size, NULL, 0) == 0) add_counter(facts, known[i].counter, value);
  }
}

void undead_process_facts_add_heap(undead_process_facts *facts, const undead_graph *graph) {
  if (!graph || !graph->complete) {
    char note[200];
    undead_text text = undead_text_in(note, sizeof(note));
    undead_text_add(&text, "the heap could not be written: ");
    bool unfinished = graph && !graph->error;
    undead_text_add(&text, unfinished ? "the scan was not completed" : undead_error_text(graph ? graph->error : ENOMEM));
    add_note(facts, note);
    return;
  }
  add_meta(facts, "heap", "1");
  add_number(facts, "generation", undead_generation_newest());
  add_counter(facts, "heapBlocks", graph->blocks);
  add_counter(facts, "heapEdges", graph->edges);
  add_counter(facts, "heapRootEdges", graph->root_edges);
  add_counter(facts, "heapStreamBytes", graph->root_offset + graph->root_bytes);
  add_counter(facts, "heapNanoseconds", graph->nanoseconds);
  add_statistics(facts);
}

void undead_process_facts_add_census(undead_process_facts *facts) { add_meta(facts, "census", "1"); }

void undead_process_facts_free(undead_process_facts *facts) {
  undead_vector_free(&facts->meta);
  undead_vector_free(&facts->counters);
  undead_vector_free(&facts->notes);
}
