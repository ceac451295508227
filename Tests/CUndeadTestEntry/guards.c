#include "undead_supported.h"
#if UNDEAD_SUPPORTED && UNDEAD_TEST_ENTRY
// Guards: a source of facts that is given up while it is guarded, and a crash in the guard of a later check; what the program has,
// does and is sent meanwhile.
#define _GNU_SOURCE
#include "undead_test_session.h"
#include "session/sections/facts.h"
#include "session/signals/signals.h"
#include <sched.h>
#include <signal.h>
#include "platform/memory/thread_state.h"
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NO_PATIENCE = 1, PATIENCE = 60000 };   // milliseconds

static volatile bool is_held, returns;
static volatile int asked, sent;

static void source(undead_facts *facts, void *context) {
  (void)context;
  asked++;
  while (is_held) usleep(1000);
  undead_facts_add_note(facts, "answered");
}

static bool answers(int64_t patience) {
  undead_facts *facts = undead_facts_gather(patience);
  bool found = false;
  for (size_t i = 0; facts && i < facts->notes.size / sizeof(uint32_t); i++)
    found |= !strcmp(undead_facts_text(facts, ((const uint32_t *)facts->notes.bytes)[i]), "answered");
  undead_facts_release(facts);
  return found;
}

// As long as the thread that was given up has not returned, nobody is asked.
static void let_source_return(void) {
  is_held = false;
  while (!answers(PATIENCE)) sched_yield();
}

static void crash(void *context) {
  (void)context;
  if (returns) let_source_return();
  *(volatile int *)8 = 1;
}

static void do_nothing(void *context) { (void)context; }

typedef void (*signal_handler)(int);

// What the kernel has: sigaction() shows a program its own action, whatever stands there.
static signal_handler handler_in_kernel(void) {
  struct { signal_handler handler; unsigned long flags; void (*restorer)(void); uint64_t mask; } now = {0};
  syscall(SYS_rt_sigaction, SIGSEGV, NULL, &now, sizeof now.mask);
  return now.handler;
}

static bool is_ours(signal_handler before) {
  struct sigaction now;
  return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == before && handler_in_kernel() == before;
}

static void count(int number) {
  (void)number;
  sent++;
}

static void set_handler(signal_handler handler) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGSEGV, &action, NULL);
}

static void set_another(void *context) { set_handler(context); }

// As kill() does, but certainly to this thread.
static void be_sent_a_signal(void *context) {
  siginfo_t info = {.si_signo = SIGSEGV, .si_code = SI_USER};
  int before = sent;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGSEGV, &info);
  *(bool *)context = sent == before + 1;
}

static __attribute__((noinline)) int recurse(volatile char *outer) {
  volatile char room[4096];
  room[0] = outer[0];
  return room[0] ? recurse(room) + room[0] : 0;
}

static void overflow(void *context) {
  volatile char start = 1;
  *(int *)context = recurse(&start);
}

static void crash_inside(void *context) {
  undead_thread.ignored++;
  crash(context);
}

static void be_forked(void *context) {
  pid_t child = fork();
  if (child == 0) undead_guards_after_fork_in_child();   // as the session's handler does where there is one
  if (child == 0) _exit(undead_guarded(crash, NULL) == SIGSEGV && handler_in_kernel() == count ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  *(bool *)context = status == 0;
}

bool undead_test_late_source(bool source_returns) {
  undead_add_facts_source(source, NULL);
  is_held = true;
  returns = source_returns;
  if (answers(NO_PATIENCE) || answers(NO_PATIENCE)) return false;
  // While a guard is held the program sets an action: a later guard takes over from that one.
  set_handler(count);
  bool contained = undead_guarded(crash, NULL) == SIGSEGV;
  contained = contained && undead_guarded(do_nothing, NULL) == 0 && undead_guarded(crash, NULL) == SIGSEGV;
  if (!source_returns) let_source_return();
  contained = contained && undead_guarded(crash, NULL) == SIGSEGV && is_ours(count);
  // By the thread that was given up, and once for each answer: more threads would only have been lost.
  return contained && asked == 1 + (source_returns ? 3 : 1);
}

const char *undead_test_guards(void) {
  int number = 0;
  bool done = false;
  set_handler(count);
  for (int i = 0; i < 20; i++)
    if (undead_guarded(do_nothing, NULL) != 0) return "a guard is not free after its use";
  if (undead_guarded(crash, NULL) != SIGSEGV || !is_ours(count)) return "the program's action is not given back";
  if (undead_guarded(be_sent_a_signal, &done) != 0 || !done) return "a signal for the program is taken for a crash";
  uint32_t ignored = undead_thread.ignored;
  if (undead_guarded(crash_inside, NULL) != SIGSEGV || undead_thread.ignored != ignored) return "a crash leaves the thread ignored";
  if (undead_guarded(overflow, &number) != SIGSEGV) return "a full stack is not contained";
  done = false;
  if (undead_guarded(be_forked, &done) != 0 || !done) return "a forked copy has the guards of its parent";
  if (undead_guarded(set_another, SIG_IGN) != 0 || !is_ours(SIG_IGN)) return "the action that the program set is lost";
  return NULL;
}
#endif
