// The public functions of include/undead.h that look at the process.
#include "platform/images/c_library.h"
#include "undead.h"
#include "undead_heap.h"
#include "platform/memory/memory.h"
#include "platform/system/own_file.h"
#include "platform/memory/page.h"
#include "session/check/check.h"
#include "session/state/settings.h"
#include "session/buffers/buffers.h"
#include <errno.h>

const char *undead_version(void) { return UNDEAD_VERSION; }

// Runs a claimed check to its end; false with the reason in the check. `frame` is that of the public function.
static bool run_claimed(undead_check *check, const void *frame) {
  undead_scan_called_from(&check->options, frame);
  const undead_settings *settings = undead_settings_get();
  undead_text_copy(check->trigger, sizeof(check->trigger), "api");
  undead_scan_mode usual = check->with_heap ? UNDEAD_SCAN_FORK : UNDEAD_SCAN_IN_PLACE;
  check->options.mode = settings->scan_mode_fixed ? settings->scan_mode : usual;
  check->options.suspects = settings->suspects;
  return undead_check_start(check) && undead_check_wait(check) && check->succeeded;
}

static undead_check *claim(char *message, size_t message_size) {
  if (message) undead_text_copy(message, message_size, undead_inactive_reason());
  if (!undead_is_active()) return NULL;
  undead_check *check = undead_check_claim();
  if (!check && message)
    undead_text_copy(message, message_size, undead_is_active() ? "an earlier snapshot did not come to an end" : undead_inactive_reason());
  return check;
}

static void explain_path(undead_check *check, const char *path, int error) {
  undead_text text = undead_text_in(check->message, sizeof(check->message));
  undead_text_join(&text, "no file can be written to '", path, "': ",
                          error == ENAMETOOLONG ? "the path is too long" : undead_error_text(error));
}

static bool write_to(const char *path, bool with_heap, const void *frame, char *message, size_t message_size) {
  int saved_errno = errno;
  undead_check *check = claim(message, message_size);
  bool succeeded = false;
  if (check) {
    check->with_heap = with_heap;
    int error = undead_file_destination(path, check->path, sizeof(check->path));
    if (error == 0) succeeded = run_claimed(check, frame);
    else explain_path(check, path, error);
    if (!succeeded && message) undead_text_copy(message, message_size, check->message);
    undead_check_release(check);
  }
  errno = saved_errno;
  return succeeded;
}

bool undead_snapshot_write(const char *path, char *message, size_t message_size) {
  __builtin_unwind_init();   // saves all registers that belong to the caller
  bool written = write_to(path, false, __builtin_frame_address(0), message, message_size);
  __asm__ volatile("");   // no tail call: the frame must stay
  return written;
}

bool undead_heap_write(const char *path, char *message, size_t message_size) {
  __builtin_unwind_init();
  bool written = write_to(path, true, __builtin_frame_address(0), message, message_size);
  __asm__ volatile("");
  return written;
}

bool undead_snapshot_copy(void **bytes, size_t *size, char *message, size_t message_size) {
  __builtin_unwind_init();   // saves all registers that belong to the caller
  int saved_errno = errno;
  *bytes = NULL;
  *size = 0;
  undead_check *check = claim(message, message_size);
  bool succeeded = false;
  if (check) {
    check->to_memory = true;
    succeeded = run_claimed(check, __builtin_frame_address(0));
    if (succeeded) {
      *bytes = check->bytes;
      *size = check->size;
    } else if (message) {
      undead_text_copy(message, message_size, check->message);
    }
    undead_check_release(check);
  }
  errno = saved_errno;
  return succeeded;
}

void undead_snapshot_release(void *bytes, size_t size) {
  if (bytes) undead_unmap(bytes, undead_page_from(size));
}
