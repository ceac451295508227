#include "session/snapshot/snapshot.h"
#include "platform/images/c_library.h"
#include "platform/memory/index_map.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/own_file.h"
#include "platform/memory/page.h"
#include "platform/processor/processor.h"
#include "scan/graph.h"
#include "session/state/settings.h"
#include "session/state/state_file.h"
#include "session/buffers/buffers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES 2048

static void fail_check(undead_check *check, const char *what, const char *path, int error) {
  undead_text text = undead_text_in(check->message, sizeof(check->message));
  undead_text_join(&text, what, path, ": ", undead_error_text(error));
}

static void numbered_name(char *name, size_t size) {
  const undead_state_file *state = undead_state_get();
  undead_text text = undead_text_in(name, size);
  undead_text_number(&text, state->pid);
  undead_text_add(&text, ".");
  undead_text_number(&text, state->generation);
  undead_text_add(&text, ".");
  undead_text_number(&text, (int64_t)state->snapshots + 1);
  undead_text_add(&text, ".undead");
}

// The file that is being written, "" if there is none.
static char partial[PATH_BYTES];

void undead_snapshot_discard(void) {
  if (partial[0]) unlink(partial);
  partial[0] = 0;
}

// The file's final name.
static char final_path[PATH_BYTES];

static void choose_path(const undead_check *check) {
  undead_text text = undead_text_in(final_path, sizeof(final_path));
  if (check->in_session) {
    char name[64];
    numbered_name(name, sizeof(name));
    undead_text_join(&text, undead_settings_get()->directory, "/", name);
  } else {
    undead_text_add(&text, check->path);
  }
}

// A graph goes into the file while the scan lasts. Without memory for it the snapshot says so.
static void prepare_graph(undead_check *check) {
  check->options.graph =
    undead_graph_open(check->file, undead_snapshot_room(), check->options.mode == UNDEAD_SCAN_FORK);
  const void *random = (const void *)getauxval(AT_RANDOM);   // 16 bytes that only this process knows
  if (check->options.graph && random) check->options.graph->salt = undead_hash(random, 16, 0);
}

// A file that is renamed to a device, a pipe or a socket would take its place. Where a link leads was found out before.
static bool may_be_replaced(undead_check *check) {
  struct stat existing;
  bool is_there = undead_raw4(SYS_newfstatat, AT_FDCWD, (long)final_path, (long)&existing, AT_SYMLINK_NOFOLLOW) == 0;
  if (!is_there || S_ISREG(existing.st_mode) || (check->in_session && !S_ISDIR(existing.st_mode))) return true;
  fail_check(check, "no file can be written, as something else has its name: ", final_path,
       S_ISDIR(existing.st_mode) ? EISDIR : EEXIST);
  return false;
}

bool undead_snapshot_begin(undead_check *check) {
  check->file = -1;
  check->options.graph = NULL;
  if (check->to_memory) return true;
  choose_path(check);
  partial[0] = 0;
  if (!may_be_replaced(check)) return false;
  check->file = undead_file_beside(final_path, partial, sizeof(partial));
  if (check->file < 0) {
    fail_check(check, "the snapshot file cannot be created: ", final_path, errno);
    partial[0] = 0;
    return false;
  }
  if (check->with_heap) prepare_graph(check);
  return true;
}

void undead_snapshot_end(undead_check *check) {
  if (check->options.graph) undead_graph_close(check->options.graph);
  check->options.graph = NULL;
  if (check->file >= 0) close(check->file);
  check->file = -1;
  undead_snapshot_discard();
}

static bool write_file(undead_check *check, const undead_scan_result *result) {
  undead_output output = {.file = check->file};
  undead_snapshot_serialize(&output, check, result);
  undead_vector_free(&output.bytes);
  if (close(check->file) != 0 && output.error == 0) output.error = errno;
  check->file = -1;
  if (output.error == 0 && rename(partial, final_path) != 0) output.error = errno;
  if (output.error == 0) partial[0] = 0;
  undead_snapshot_discard();
  if (output.error == 0) return true;
  fail_check(check, "the snapshot file cannot be written: ", final_path, output.error);
  return false;
}

static void note_number(void) {
  undead_state_file *state = undead_state_get();
  undead_text_copy(state->snapshot, sizeof(state->snapshot), strrchr(final_path, '/') + 1);
  __atomic_add_fetch(&state->snapshots, 1, __ATOMIC_RELEASE);
}

static bool write_memory(undead_check *check, const undead_scan_result *result) {
  // The reader takes a snapshot without findings for the answer that nothing leaked.
  if (result->error) {
    undead_text_copy(check->message, sizeof(check->message), result->message);
    return false;
  }
  undead_output output = {.file = -1};
  undead_snapshot_serialize(&output, check, result);
  if (output.error) {
    undead_vector_free(&output.bytes);
    fail_check(check, "the snapshot cannot be made", "", output.error);
    return false;
  }
  check->bytes = output.bytes.bytes;
  check->size = output.bytes.size;
  // What the caller gives back is `size` bytes: the rest goes now.
  size_t used = undead_page_from(output.bytes.size);
  if (used < output.bytes.capacity) undead_unmap(output.bytes.bytes + used, output.bytes.capacity - used);
  return true;
}

// In a session the tool reports the leaks and says why there is no heap; a program that asked for its heap wants no less.
static bool has_what_was_asked_for(undead_check *check, const undead_scan_result *result) {
  const undead_graph *graph = check->options.graph;
  if (!check->with_heap || check->in_session || (graph && graph->complete)) return true;
  int error = graph ? graph->error : ENOMEM;
  undead_text text = undead_text_in(check->message, sizeof(check->message));
  undead_text_add(&text, "the heap could not be written: ");
  undead_text_add(&text, result->error ? result->message : undead_error_text(error ? error : EIO));
  return false;
}

bool undead_snapshot_make(undead_check *check, const undead_scan_result *result) {
  undead_state_set_step("naming");
  if (check->to_memory) return write_memory(check, result);
  if (!has_what_was_asked_for(check, result)) return false;
  bool written = write_file(check, result);
  if (written && check->in_session) note_number();
  return written;
}
