// Stacks that come again and again are recognised as a whole, and told from those that differ in one word far out: by
// what called an outer frame, or by the size of frames of which the sum stays the same. Linked with the instrument.
#define _GNU_SOURCE
#include "unwind/backtrace.h"
#include "platform/memory/thread_state.h"
#include "unwind/capture/capture_x86_64.h"
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FRAMES 250

static unsigned long captures, wrong, known;
static volatile int sink;

static __attribute__((noinline)) void capture_and_check(void) {
  const uintptr_t *frame = __builtin_frame_address(0);
  uintptr_t found[FRAMES];
  uint32_t indices[FRAMES], count = 0;
  const undead_unwind_cache *cache = undead_thread.unwind_cache;
  uint32_t hits = cache ? cache->memo_hits : 0;   // begins anew now and then
  uint32_t id = undead_backtrace_capture(frame[1], (uintptr_t)(frame + 2), frame[0]);
  known += cache && cache->memo_hits > hits;
  uint32_t length = undead_backtrace_frames(id, found, FRAMES);
  undead_walk(&undead_thread, (undead_frame){frame[1], (uintptr_t)(frame + 2), frame[0]}, indices, FRAMES, &count);
  captures++;
  bool equal = length == count;
  for (uint32_t index = 0; equal && index < count; index++) equal = found[index] == undead_pcs[indices[index]].pc;
  if (!equal) wrong++;
}

static __attribute__((noinline)) void inner(int site) {
  if (site & 1) capture_and_check();
  else capture_and_check();
  sink++;
}

static __attribute__((noinline)) void deep(int depth, int site) {
  if (depth > 0) deep(depth - 1, site);
  else inner(site);
  sink++;
}

// Both calls leave the stack alike.
static __attribute__((noinline)) void either(int way, int depth, int site) {
  if (way) deep(depth, site);
  else deep(depth, site);
  sink++;
}

static __attribute__((noinline)) void second(int bytes, int depth, int site) {
  volatile char *room = alloca((size_t)bytes);
  room[0] = 1;
  either(site & 1, depth, site);
  sink += room[0];
}

// The frames differ in size, what is inside of them lies where it lay.
static __attribute__((noinline)) void first(int bytes, int depth, int site) {
  volatile char *room = alloca((size_t)bytes);
  room[0] = 1;
  second(512 - bytes, depth, site);
  sink += room[0];
}

static void run(int rounds) {
  for (int round = 0; round < rounds; round++) {
    for (int turn = 0; turn < 8; turn++) {
      int depth = turn * 5;
      either(round / 300 & 1, depth, turn);        // the one, for long, then the other
      either(round % 3 == 0, depth, turn);
      first(round / 200 & 1 ? 128 : 256, depth, turn / 2);
      first(round % 5 == 0 ? 64 : 192, depth, turn / 2);
    }
  }
}

static __attribute__((noinline)) void run_within(int frames, int rounds) {
  if (frames > 0) run_within(frames - 1, rounds);
  else run(rounds);
  sink++;
}

// Far out, behind many frames that stay: what many stacks have in common.
static __attribute__((noinline)) void run_from(int way, int rounds) {
  if (way) run_within(20, rounds);
  else run_within(20, rounds);
  sink++;
}

static void *run_thread(void *unused) {
  run(500);
  return unused;
}

// Threads of which each gets the cache of the one before, on a stack where its frames may lie elsewhere.
static void run_threads(void) {
  for (int index = 0; index < 20; index++) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)(256 + index % 3 * 256) << 10);
    pthread_create(&thread, &attributes, run_thread, NULL);
    pthread_join(thread, NULL);
  }
}

int main(void) {
  run(2000);
  for (int turn = 0; turn < 20; turn++) run_from(turn & 1, 100);
  run_threads();
  printf("%lu captures, %lu wrong, %lu recognised as a whole\n", captures, wrong, known);
  return wrong != 0 || known < captures / 2;
}
