// The functions that set the actions and masks of signals, interposed so that the program sees the default action where it has
// set no other, although a handler of ours stands there.
#include "session/signals/signals.h"
#include "platform/memory/own_data.h"
#include "session/state/interpose.h"
#include "zombies/fault.h"

typedef void (*handler)(int);

// The default actions that the program set where a handler of ours stands: with their flags and masks.
static struct sigaction defaults[_NSIG];

// The program has set the default action: ours takes its place again.
static void manage_again(int number) {
  const undead_signal_manager *manager = undead_signal_manager_now();
  if (!manager || !manager->is_managed(number)) return;
  undead_signal_set_action(number, NULL, &defaults[number]);
  manager->manage(number);
}

static bool is_own_handler(const void *handler) {
  const undead_signal_manager *manager = undead_signal_manager_now();
  return manager && manager->is_handler(handler);
}

UNDEAD_PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  int kept;
  if (undead_fault_keep(number, action, old, &kept)) return kept;
  // The caller may use one structure for both.
  bool to_default = action && action->sa_handler == SIG_DFL;
  struct sigaction wanted;
  if (action) wanted = *action;
  int result = undead_signal_set_action(number, action && undead_fault_unblock(&wanted.sa_mask) ? &wanted : action, old);
  if (result != 0) return result;
  if (old) undead_guard_hide(number, old);
  if (old && is_own_handler((const void *)old->sa_sigaction)) *old = defaults[number];
  if (to_default) manage_again(number);
  return result;
}

static handler set_handler(__typeof__(signal) *next, int number, handler wanted, int flags) {
  struct sigaction action = {.sa_handler = wanted, .sa_flags = flags}, before;
  int kept;
  if (wanted != SIG_ERR && undead_fault_keep(number, &action, &before, &kept)) return before.sa_handler;
  handler old = next(number, wanted);
  if (old == SIG_ERR) return old;
  struct sigaction known = {.sa_handler = old};
  undead_guard_hide(number, &known);
  old = known.sa_handler;
  if (is_own_handler((const void *)old)) old = SIG_DFL;
  if (wanted == SIG_DFL) manage_again(number);
  return old;
}

UNDEAD_PUBLIC handler signal(int number, handler wanted) {
  return set_handler(UNDEAD_NEXT(signal), number, wanted, SA_RESTART);
}

UNDEAD_PUBLIC handler sysv_signal(int number, handler wanted) {
  return set_handler(UNDEAD_NEXT(sysv_signal), number, wanted, SA_RESETHAND | SA_NODEFER);
}

UNDEAD_PUBLIC handler __sysv_signal(int number, handler wanted) __attribute__((alias("sysv_signal")));

// A thread that blocks a fault of ours would end the program where the fault is to be reported.
static int change_mask(__typeof__(sigprocmask) *next, int how, const sigset_t *set, sigset_t *old) {
  sigset_t wanted;
  bool blocks = set && how != SIG_UNBLOCK;
  if (blocks) wanted = *set;
  return next(how, blocks && undead_fault_unblock(&wanted) ? &wanted : set, old);
}

UNDEAD_PUBLIC int pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
  return change_mask(UNDEAD_NEXT(pthread_sigmask), how, set, old);
}

UNDEAD_PUBLIC int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
  return change_mask(UNDEAD_NEXT(sigprocmask), how, set, old);
}

UNDEAD_PUBLIC handler sigset(int number, handler wanted) {
  return set_handler(UNDEAD_NEXT(sigset), number, wanted, 0);
}
