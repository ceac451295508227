#define _GNU_SOURCE
#include "session/snapshot.h"
#include "platform/memory.h"
#include "session/session.h"
#include "session/settings.h"
#include "session/state_file.h"
#include "session/text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 2048

static void fail(undead_check *check, const char *what, const char *path, int error) {
  undead_text text = undead_text_in(check->message, sizeof(check->message));
  undead_text_add(&text, what);
  undead_text_add(&text, path);
  undead_text_add(&text, ": ");
  undead_text_add(&text, strerrordesc_np(error));
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

static bool write_file(undead_check *check, const undead_scan_result *result, const char *path) {
  undead_text name = undead_text_in(partial, sizeof(partial));
  undead_text_add(&name, path);
  undead_text_add(&name, ".partial");
  undead_output output = {.file = open(partial, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (output.file < 0) {
    fail(check, "the snapshot file cannot be created: ", partial, errno);
    partial[0] = 0;
    return false;
  }
  undead_snapshot_serialize(&output, check, result);
  undead_vector_free(&output.bytes);
  if (close(output.file) != 0 && output.error == 0) output.error = errno;
  if (output.error == 0 && rename(partial, path) != 0) output.error = errno;
  if (output.error == 0) partial[0] = 0;
  undead_snapshot_discard();
  if (output.error == 0) return true;
  fail(check, "the snapshot file cannot be written: ", path, output.error);
  return false;
}

static bool write_numbered(undead_check *check, const undead_scan_result *result) {
  undead_state_file *state = undead_state_get();
  char name[64], path[PATH_BYTES];
  numbered_name(name, sizeof(name));
  undead_text text = undead_text_in(path, sizeof(path));
  undead_text_add(&text, undead_settings_get()->directory);
  undead_text_add(&text, "/");
  undead_text_add(&text, name);
  if (!write_file(check, result, path)) return false;
  undead_text_copy(state->snapshot, sizeof(state->snapshot), name);
  __atomic_add_fetch(&state->snapshots, 1, __ATOMIC_RELEASE);
  return true;
}

static bool write_memory(undead_check *check, const undead_scan_result *result) {
  undead_output output = {.file = -1};
  undead_snapshot_serialize(&output, check, result);
  if (output.error) {
    undead_vector_free(&output.bytes);
    fail(check, "the snapshot cannot be made", "", output.error);
    return false;
  }
  check->bytes = output.bytes.bytes;
  check->size = output.bytes.size;
  // What the caller gives back is `size` bytes: the rest goes now.
  size_t used = (output.bytes.size + 4095) & ~(size_t)4095;
  if (used < output.bytes.capacity) undead_unmap(output.bytes.bytes + used, output.bytes.capacity - used);
  return true;
}

bool undead_snapshot_make(undead_check *check, const undead_scan_result *result) {
  undead_state_set_step("naming");
  if (check->in_session) return write_numbered(check, result);
  if (check->to_memory) return write_memory(check, result);
  return write_file(check, result, check->path);
}
