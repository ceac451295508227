// Each block shows in which generation it was born, whatever threads, signals, forks and scopes do meanwhile. Linked
// with the sources of the instrument.
#define _GNU_SOURCE
#include "check.h"
#include "record/generations.h"
#include "record/mode.h"
#include "record/registry.h"
#include "record/scopes.h"
#include "undead_scopes.h"
#include "unwind/backtrace.h"
#include "unwind/store/store.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t word(const void *block) {
  uint32_t *slot = undead_registry_slot((uintptr_t)block);
  return slot ? *slot & UNDEAD_WORD_BACKTRACE : 0;
}

static uint32_t generation_of(const void *block) { return undead_generation_of_backtrace(word(block)); }

static __attribute__((noinline)) void *allocate(int depth, size_t size) {
  volatile char frame[24];
  frame[0] = (char)depth;
  void *block = depth > 0 ? allocate(depth - 1, size) : malloc(size);
  frame[1] = frame[0];
  return block;
}

// From the same place in each generation: the same frames.
static void sites(void) {
  enum { MARKS = 20, DEPTHS = 12 };
  static void *blocks[MARKS + 1][DEPTHS];
  for (uint32_t number = 0; number <= MARKS; number++) {
    if (number) CHECK(undead_generation_mark("a mark") == number);
    for (int depth = 0; depth < DEPTHS; depth++) blocks[number][depth] = allocate(depth, 50);
  }
  for (uint32_t number = 0; number <= MARKS; number++)
    for (int depth = 0; depth < DEPTHS; depth++) {
      uintptr_t first[64], frames[64];
      uint32_t count = undead_backtrace_frames(word(blocks[0][depth]), first, 64);
      CHECK(generation_of(blocks[number][depth]) == number);
      CHECK(count > (uint32_t)depth && undead_backtrace_frames(word(blocks[number][depth]), frames, 64) == count);
      CHECK(memcmp(first, frames, count * sizeof *frames) == 0);
      CHECK(undead_scope_of_backtrace(word(blocks[number][depth])) == 0);
    }
  for (uint32_t number = 0; number <= MARKS; number++)
    for (int depth = 0; depth < DEPTHS; depth++) free(blocks[number][depth]);
  void *block = allocate(3, 20), *again = allocate(3, 20);
  CHECK(generation_of(block) == MARKS);
  CHECK(generation_of(again) == MARKS);
  undead_generation_mark("it grows");
  block = realloc(block, 5000);
  CHECK(generation_of(block) == MARKS + 1 && generation_of(again) == MARKS);
  free(block);
  free(again);
}

static void names(void) {
  char longest[300];
  undead_generation mark;
  errno = 77;
  uint32_t number = undead_generation_mark("after request");
  CHECK(errno == 77 && undead_generation_newest() == number);
  CHECK(undead_generation_get(number, &mark) && mark.number == number && strcmp(mark.name, "after request") == 0);
  CHECK(mark.nanoseconds > 1700000000000000000u);
  for (size_t i = 0; i + 1 < sizeof longest; i += 2) memcpy(longest + i, "\xC3\xA9", 2);
  longest[298] = 0;
  number = undead_generation_mark(longest);
  // 111 bytes have room for 55 characters of two bytes.
  CHECK(undead_generation_get(number, &mark) && strlen(mark.name) == 110 && memcmp(mark.name, longest, 110) == 0);
  CHECK(undead_generation_get(undead_generation_mark(NULL), &mark) && mark.name[0] == 0);
  CHECK(!undead_generation_get(0, &mark) && !undead_generation_get(mark.number + 1, &mark));
  CHECK(!undead_generation_get(UINT32_MAX, &mark));
}

static void without_backtraces(void) {
  undead_mode mode = (undead_mode)undead_record_mode;
  undead_record_start(UNDEAD_RECORD_BLOCKS);
  void *before = malloc(30);
  uint32_t number = undead_generation_mark("blocks only");
  void *after = malloc(30);
  uintptr_t frame;
  CHECK(generation_of(before) == number - 1 && generation_of(after) == number);
  CHECK(undead_backtrace_frames(word(after), &frame, 1) == 0);
  uint32_t scope = undead_scope_open();
  void *scoped = malloc(30);
  CHECK(generation_of(scoped) == number && undead_scope_of_block(scoped) == UNDEAD_SCOPE_OUTSIDE);
  undead_scope_close(scope);
  undead_record_start(mode);
  free(before);
  free(after);
  free(scoped);
}

static void scopes(void) {
  uint32_t scope = undead_scope_open();
  void *before = allocate(5, 40);
  uint32_t number = undead_generation_mark("in a scope");
  void *after = allocate(5, 40);
  uintptr_t first[64], frames[64];
  CHECK(generation_of(before) == number - 1 && undead_scope_of_block(before) == UNDEAD_SCOPE_OUTSIDE);
  CHECK(generation_of(after) == number && undead_scope_of_block(after) == UNDEAD_SCOPE_OUTSIDE);
  uint32_t count = undead_backtrace_frames(word(before), first, 64);
  CHECK(count > 5 && undead_backtrace_frames(word(after), frames, 64) == count);
  undead_scope_close(scope);
  free(before);
  free(after);
}

static int stop;

// What is allocated after a mark is seen belongs to it or to a later one.
static void check_one(int depth) {
  uint32_t least = undead_generation_newest();
  void *block = allocate(depth, 24);
  uint32_t found = generation_of(block), most = undead_generation_newest() + 1;
  CHECK(found >= least && found <= most);
  free(block);
}

static void *churn(void *seed) {
  for (uintptr_t i = (uintptr_t)seed; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); i++) check_one((int)(i % 14));
  return NULL;
}

static void on_signal(int number) {
  (void)number;
  undead_generation_mark("in a handler");
  free(malloc(10));
}

#define BUSY 4

static void threads_and_signals(void) {
  pthread_t busy[BUSY];
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGUSR1, &action, NULL);
  uint32_t before = undead_generation_newest();
  stop = 0;
  for (uintptr_t i = 0; i < BUSY; i++) CHECK(pthread_create(&busy[i], NULL, churn, (void *)(i * 5)) == 0);
  for (int round = 0; round < 600; round++) {
    pthread_kill(busy[round % BUSY], SIGUSR1);
    check_one(round % 9);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < BUSY; i++) pthread_join(busy[i], NULL);
  CHECK(undead_generation_newest() > before && undead_generation_newest() <= before + 600);
  void *block = allocate(2, 9);
  CHECK(generation_of(block) == undead_generation_newest());
  free(block);
}

static void forks(void) {
  void *before = allocate(4, 70);
  uint32_t number = undead_generation_newest();
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    undead_record_after_fork_in_child();
    CHECK(generation_of(before) == number && undead_generation_mark("in a child") == number + 1);
    void *after = allocate(4, 70);
    CHECK(generation_of(after) == number + 1);
    _exit(failures != 0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(undead_generation_newest() == number);
  free(before);
}

// With half of the store in use marks end, so that backtraces do not.
static void full_store(void) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    undead_record_after_fork_in_child();
    undead_store_limit(1 << 26);
    uint32_t number = undead_generation_newest(), indices[4] = {1, 2, 3, 0};
    while (undead_store_has_room() && indices[3] < (1u << 20)) {
      indices[3]++;
      CHECK(undead_store_add(indices, 4) != 0);
    }
    CHECK(undead_generation_mark("too late") == 0 && undead_generation_newest() == number);
    void *after = allocate(4, 70);
    uintptr_t frames[16];
    CHECK(generation_of(after) == number && undead_backtrace_frames(word(after), frames, 16) > 4);
    _exit(failures != 0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void too_many(void) {
  uint32_t number = undead_generation_newest();
  while (number < UNDEAD_GENERATION_LIMIT) {
    uint32_t next = undead_generation_mark("one of many");
    CHECK(next > number);
    if (next <= number) return;
    number = next;
  }
  CHECK(undead_generation_mark("one too many") == 0);
  void *block = allocate(2, 9);
  CHECK(generation_of(block) == UNDEAD_GENERATION_LIMIT);
  free(block);
}

int main(void) {
  alarm(120);
  CHECK(undead_generation_newest() == 0 && undead_generation_of_backtrace(0) == 0);
  CHECK(undead_generation_of_backtrace(UINT32_MAX) == 0 && undead_generation_of_backtrace(UNDEAD_BACKTRACE_NONE) == 0);
  sites();
  names();
  without_backtraces();
  scopes();
  threads_and_signals();
  forks();
  full_store();
  too_many();
  CHECK(undead_backtrace_dropped() == 0 && undead_registry_dropped() == 0);
  return failures != 0;
}
