// The sources of facts run code of the program's layers, which may allocate, wait for a lock or crash: on an ordinary
// thread, which is over before the scan begins or is left to itself.
#include "platform/memory/memory.h"
#include "platform/system/clock.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "session/stacks/stacks.h"
#include "session/sections/facts.h"
#include "session/signals/signals.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ASKING, ANSWERED, GIVEN_UP };

typedef struct {
  undead_facts facts;   // first: what the caller gets
  uint32_t state;
  int crash;            // signal by which a source crashed
} collection;

// A thread that was given up still waits in a source: asking again would only lose another one.
static uint32_t waiting;

static void discard(collection *collected) {
  undead_facts_free(&collected->facts);
  undead_unmap(collected, sizeof(*collected));
}

static void ask(void *context) { undead_facts_collect(context); }

static void *collect_on_thread(void *context) {
  collection *collected = context;
  collected->crash = undead_guarded(ask, &collected->facts);
  uint32_t expected = ASKING;
  if (__atomic_compare_exchange_n(&collected->state, &expected, ANSWERED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    syscall(SYS_futex, &collected->state, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  } else {
    discard(collected);
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
  }
  undead_discard_stack();
  return NULL;
}

static bool create_facts_thread(pthread_t *thread, collection *collected) {
  static const size_t stack_sizes[] = {1u << 20, 256u << 10};
  for (size_t i = 0; i < sizeof(stack_sizes) / sizeof(stack_sizes[0]); i++) {
    if (undead_thread_start(thread, stack_sizes[i], false, collect_on_thread, collected) == 0) return true;
  }
  return false;
}

static int64_t milliseconds(void) { return (int64_t)(undead_now() / 1000000); }

// False if the thread goes on without us.
static bool wait_for_answer(pthread_t thread, collection *collected, int64_t patience) {
  int64_t end = milliseconds() + patience, left;
  while (__atomic_load_n(&collected->state, __ATOMIC_ACQUIRE) == ASKING) {
    if ((left = end - milliseconds()) > 0) {
      const struct timespec slice = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
      syscall(SYS_futex, &collected->state, FUTEX_WAIT_PRIVATE, ASKING, &slice, NULL, 0);
      continue;
    }
    uint32_t expected = ASKING;
    __atomic_add_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
    if (__atomic_compare_exchange_n(&collected->state, &expected, GIVEN_UP, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      undead_thread_detach(thread);
      return false;
    }
    __atomic_sub_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
  }
  undead_thread_join(thread);
  return true;
}

static void note_gaps(collection *collected) {
  undead_facts *facts = &collected->facts;
  char note[160];
  if (collected->crash) {
    static const char crash[] = "what owner scopes and run loops know is missing: asking them crashed with signal %d";
    snprintf(note, sizeof(note), crash, collected->crash);
    undead_facts_add_note(facts, note);
  }
  if (facts->failed) undead_facts_add_note(facts, "there was no memory for all that owner scopes and run loops know");
  if (!facts->dropped) return;
  snprintf(note, sizeof(note), "%llu watched objects, run loop items or diagnostics are left out: there are too many",
           (unsigned long long)facts->dropped);
  undead_facts_add_note(facts, note);
}

// Facts that hold nothing but the reason for it.
static undead_facts *no_answer(const char *reason) {
  collection *collected = undead_map(sizeof(*collected));
  if (!collected) return NULL;
  undead_facts_add_note(&collected->facts, reason);
  return &collected->facts;
}

undead_facts *undead_facts_gather(int64_t patience) {
  if (!undead_facts_have_sources()) return NULL;
  static const char silence[] =
      "what owner scopes and run loops know is missing: they did not answer, as if a thread held one of their locks";
  if (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) > 0) return no_answer(silence);
  collection *collected = undead_map(sizeof(*collected));
  if (!collected) return NULL;
  pthread_t thread;
  if (!create_facts_thread(&thread, collected)) {
    discard(collected);
    return no_answer("what owner scopes and run loops know is missing: there was no thread to ask them");
  }
  if (!wait_for_answer(thread, collected, patience)) return no_answer(silence);
  note_gaps(collected);
  return &collected->facts;
}

void undead_facts_release(undead_facts *facts) {
  if (facts) discard((collection *)facts);
}
