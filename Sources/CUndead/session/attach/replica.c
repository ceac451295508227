#include "session/attach/replica.h"
#include "platform/images/c_library.h"
#include "platform/images/files.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/memory/spread.h"
#include "platform/memory/thread_state.h"
#include "record/attached.h"
#include "runtime/layout.h"
#include "scan/graph.h"
#include "session/signals/signals.h"
#include "session/snapshot/snapshot.h"
#include "session/state/process.h"
#include "session/state/state_file.h"
#include "session/buffers/buffers.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_FILE = 3 };

static undead_replica_request *request;
static undead_replica_end end;
static undead_given_world world;

static undead_replica_end fail_replica(undead_replica_end why, const char *what, const char *detail) {
  undead_text text = undead_text_in(request->message, sizeof(request->message));
  undead_text_add(&text, what);
  if (detail) undead_text_add(&text, detail);
  return end = why;
}

// Threads whose registers could not be read have no stack pointer: what they hold is unknown.
static bool give_threads(void) {
  const undead_replica_thread *threads = (const undead_replica_thread *)request->threads;
  undead_given_thread *given = undead_map((request->thread_count + 1ull) * sizeof *given);
  if (!given) return false;
  for (uint32_t i = 0; i < request->thread_count; i++)
    given[i] = (undead_given_thread){.tid = threads[i].tid, .first = threads[i].flags & UNDEAD_REPLICA_FIRST,
                                     .registers = threads[i].registers, .xstate = (const uint8_t *)threads[i].xstate,
                                     .xstate_bytes = threads[i].xstate_bytes};
  world = (undead_given_world){.threads = given, .thread_count = request->thread_count, .started = request->started,
                               .held_known = request->flags & UNDEAD_REPLICA_HELD_KNOWN,
                               .may_have_threads = request->flags & UNDEAD_REPLICA_THREADS};
  undead_world_give(&world);
  return true;
}

// The first three numbers are where messages go, and all may be closed: nothing must come into the snapshot by chance.
static int keep_file(int file) {
  for (int number; (number = undead_memory_file("undead")) >= 0;)
    if (number >= FIRST_FILE) {
      close(number);
      break;
    }
  return file < FIRST_FILE ? fcntl(file, F_DUPFD_CLOEXEC, FIRST_FILE) : file;
}

static void write_snapshot(undead_check *check, const undead_scan_result *result) {
  undead_output output = {.file = check->file};
  undead_record_tell_in_copy();
  undead_snapshot_serialize(&output, check, result);
  undead_vector_free(&output.bytes);
  if (output.error) fail_replica(UNDEAD_REPLICA_FAILED, "the snapshot cannot be written: ", undead_error_text(output.error));
  else end = UNDEAD_REPLICA_DONE;
}

static void scan(undead_check *check) {
  undead_state_set_step("scanning");
  undead_scan_result *result = undead_scan(&check->options);
  if (!result) {
    fail_replica(UNDEAD_REPLICA_FAILED, "there is no memory for the scan", NULL);
    return;
  }
  result->pause_nanoseconds = request->paused;
  if (!result->error && check->options.census) undead_census_learn(check);
  if (result->error) fail_replica(UNDEAD_REPLICA_FAILED, result->message, NULL);
  else write_snapshot(check, result);
  undead_scan_free(result);
}

static void look_at_replica(void *context) {
  undead_check *check = context;
  undead_state_set_step("finding the Swift runtime");
  if (!undead_maps_refresh()) {
    fail_replica(UNDEAD_REPLICA_FAILED, "the map of the program's memory is empty", NULL);
    return;
  }
  undead_modules_refresh();
  if (!undead_runtime_find()) {
    fail_replica(UNDEAD_REPLICA_NOT_SWIFT, "the program does not use the Swift runtime", NULL);
    return;
  }
  undead_state_set_step("reading the allocator's tables");
  end = undead_replica_find_blocks(request);
  if (end != UNDEAD_REPLICA_DONE) return;
  if (!undead_replica_find_words(request, &world)) {
    fail_replica(UNDEAD_REPLICA_FAILED, "there is no memory for the words that are held", NULL);
    return;
  }
  if (request->flags & UNDEAD_REPLICA_CENSUS && !undead_census_begin(check)) {
    fail_replica(UNDEAD_REPLICA_FAILED, "there is no memory for the count", NULL);
    return;
  }
  if (request->flags & UNDEAD_REPLICA_HEAP) {
    check->options.graph = undead_graph_open(check->file, undead_snapshot_room(), false);
    if (check->options.graph) check->options.graph->salt = undead_spread(request->taken) + (uint64_t)request->pid;
  }
  scan(check);
  if (check->options.graph) undead_graph_close(check->options.graph);
}

static undead_replica_end run_replica_check(void) {
  static undead_check check;
  check.options.suspects = true;
  check.options.only_dead_owners = !(request->flags & UNDEAD_REPLICA_SUSPECTS);
  check.options.mode = UNDEAD_SCAN_IN_PLACE;
  check.with_heap = request->flags & UNDEAD_REPLICA_HEAP;
  check.file = keep_file(request->file);
  undead_text_copy(check.trigger, sizeof(check.trigger), request->flags & UNDEAD_REPLICA_CORE ? "core" : "attach");
  if (check.file < 0) return fail_replica(UNDEAD_REPLICA_FAILED, "the file for the snapshot is not open", NULL);
  undead_maps_give((const char *)request->maps, request->maps_bytes, (const char *)request->smaps, request->smaps_bytes);
  undead_files_give((const char *)request->files);
  undead_own_memory((const void *)request->stack_low, request->stack_high - request->stack_low);
  if (!give_threads()) return fail_replica(UNDEAD_REPLICA_FAILED, "there is no memory for the threads", NULL);
  end = UNDEAD_REPLICA_FAILED;
  int crash = undead_guarded(look_at_replica, &check);
  if (!crash) return end;
  char number[16];
  undead_text text = undead_text_in(number, sizeof(number));
  undead_text_number(&text, crash);
  undead_text_add(&text, " while ");
  fail_replica(UNDEAD_REPLICA_FAILED, "the search for leaks crashed with signal ", number);
  text = (undead_text){request->message, sizeof(request->message), strlen(request->message)};
  undead_text_add(&text, undead_state_get()->step);
  return end;
}

int undead_replica_main(undead_replica_request *asked) {
  if (asked->version != UNDEAD_REPLICA_VERSION || asked->bytes < sizeof(*asked)) {
    undead_text_copy(asked->message, sizeof(asked->message), "the tool and the library do not belong to one version");
    return UNDEAD_REPLICA_FAILED;
  }
  undead_thread.ignored++;
  request = asked;
  undead_replica_set_now(asked);
  request->message[0] = 0;
  // The program's own recorder may be the one that looks now.
  if (!undead_record_in_copy()) return fail_replica(UNDEAD_REPLICA_ALLOCATOR_BUSY, "a thread was recording a backtrace", NULL);
  return run_replica_check();
}
