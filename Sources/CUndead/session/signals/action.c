#include "session/signals/signals.h"
#include "platform/memory/own_data.h"
#include "session/state/interpose.h"
#include <sys/syscall.h>
#include <unistd.h>

static const undead_signal_manager *the_manager;

void undead_signal_manage_by(const undead_signal_manager *manager) {
  __atomic_store_n(&the_manager, manager, __ATOMIC_RELEASE);
}

const undead_signal_manager *undead_signal_manager_now(void) { return __atomic_load_n(&the_manager, __ATOMIC_ACQUIRE); }

int undead_signal_set_action(int number, const struct sigaction *action, struct sigaction *old) {
  return UNDEAD_NEXT(sigaction)(number, action, old);
}

void undead_signal_restore_default(int number) {
  struct sigaction action = {0};
  action.sa_handler = SIG_DFL;
  undead_signal_set_action(number, &action, NULL);
}

void undead_die_of(int signal) {
  undead_signal_restore_default(signal);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &one, NULL, _NSIG / 8);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
  // Only process 1 of a container gets here: it lives on, as it would have without us.
  const undead_signal_manager *manager = undead_signal_manager_now();
  if (manager) manager->survived(signal);
}
