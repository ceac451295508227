#include "session/state/settings.h"
#include "platform/system/environment.h"
#include "platform/memory/own_data.h"
#include "record/mode.h"
#include "session/buffers/buffers.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

static undead_settings settings;
static bool settings_known;

static bool is(const char *variable, const char *value) {
  const char *found = undead_setting(variable);
  return found && strcmp(found, value) == 0;
}

static int request_signal(void) {
  int64_t number;
  const char *text = undead_setting("UNDEAD_REQUEST_SIGNAL");
  if (!text) return SIGRTMAX - 2;
  if (!undead_text_parse(text, &number) || number >= NSIG || number == SIGKILL || number == SIGSTOP) return 0;
  return (int)number;
}

const undead_settings *undead_settings_get(void) {
  if (settings_known) return &settings;
  const char *directory = undead_setting("UNDEAD_SESSION");
  // A directory that does not fit would be another one if it were cut off.
  if (directory && strlen(directory) < sizeof(settings.directory))
    undead_text_copy(settings.directory, sizeof(settings.directory), directory);
  settings.turned_off = is("UNDEAD", "0");
  settings.turned_on = is("UNDEAD", "1");
  settings.backtraces = undead_record_stacks_wanted() != UNDEAD_STACKS_NONE;
  settings.suspects = !is("UNDEAD_SUSPECTS", "0");
  settings.heap = is("UNDEAD_HEAP", "1");
  settings.check_signals = !is("UNDEAD_CHECK_SIGNALS", "0");
  settings.request_signal = request_signal();
  settings.scan_mode_fixed = is("UNDEAD_SCAN", "place") || is("UNDEAD_SCAN", "fork");
  settings.scan_mode = is("UNDEAD_SCAN", "fork") ? UNDEAD_SCAN_FORK : UNDEAD_SCAN_IN_PLACE;
  settings.verbose = is("UNDEAD_VERBOSE", "1");
  settings_known = true;
  return &settings;
}

void undead_say(const char *message, const char *detail) {
  if (!settings.verbose) return;
  char line[1024];
  undead_text text = undead_text_in(line, sizeof(line) - 1);
  undead_text_add(&text, "undead[");
  undead_text_number(&text, getpid());
  undead_text_join(&text, "]: ", message);
  if (detail) undead_text_add(&text, detail);
  line[text.length++] = '\n';
  if (write(STDERR_FILENO, line, text.length) < 0) return;
}
