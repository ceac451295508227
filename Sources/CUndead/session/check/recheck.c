// Checks that nobody asked for and that write nothing: each compares its leaks with those of the checks before (refute.h), so that
// any program becomes a test of the instrument. For scripts/check/refute.
#include "platform/images/c_library.h"
#include "session/check/check.h"
#include "undead_assertions.h"
#include "platform/system/environment.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "session/state/process.h"
#include "session/state/settings.h"
#include "session/buffers/buffers.h"
#include <signal.h>
#include <time.h>

static int64_t interval;   // milliseconds

static void recheck_once(undead_check *check) {
  const undead_settings *settings = undead_settings_get();
  undead_text_copy(check->trigger, sizeof check->trigger, "recheck");
  check->options.mode = settings->scan_mode_fixed ? settings->scan_mode : UNDEAD_SCAN_FORK;
  check->options.suspects = settings->suspects;
  check->compares_only = true;
  if (undead_check_start(check)) undead_check_wait(check);
  undead_check_release(check);
}

static void check_again_and_again(void *unused) {
  (void)unused;
  undead_thread.ignored++;
  struct timespec pause = {interval / 1000, interval % 1000 * 1000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL) == 0 && undead_session_in_charge() && !undead_exit_under_way()) {
    undead_check *check = undead_check_try_claim();
    if (check) recheck_once(check);
  }
  undead_thread.ignored--;
}

void undead_recheck_begin(void) {
  const char *text = undead_setting("UNDEAD_RECHECK");
  if (!text || !undead_text_parse(text, &interval) || interval <= 0) return;
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGPROF);   // stops this thread, too, where ptrace is denied
  undead_change_signal_mask(SIG_SETMASK, &all, &before);
  undead_call_on_thread(check_again_and_again, NULL);
  undead_change_signal_mask(SIG_SETMASK, &before, NULL);
}
