#include "undead_supported.h"
#if UNDEAD_SUPPORTED && UNDEAD_TEST_ENTRY
// A source of facts that is given up while it is guarded, and a crash in the guard of a later check.
#include "undead_test_session.h"
#include "session/sections/facts.h"
#include "session/signals/guard.h"
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { NO_PATIENCE = 1, PATIENCE = 60000 };   // milliseconds

static volatile bool is_held, returns;

static void source(undead_facts *facts, void *context) {
  (void)context;
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

static bool is_ours(void (*before)(int)) {
  struct sigaction now;
  return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == before;
}

bool undead_test_late_source(bool source_returns) {
  struct sigaction before;
  sigaction(SIGSEGV, NULL, &before);
  undead_add_facts_source(source, NULL);
  is_held = true;
  returns = source_returns;
  if (answers(NO_PATIENCE)) return false;
  bool contained = undead_guarded(crash, NULL) == SIGSEGV && is_ours(before.sa_handler);
  contained = contained && undead_guarded(do_nothing, NULL) == 0 && undead_guarded(crash, NULL) == SIGSEGV;
  if (!source_returns) let_source_return();
  return contained && undead_guarded(crash, NULL) == SIGSEGV && is_ours(before.sa_handler);
}
#endif
