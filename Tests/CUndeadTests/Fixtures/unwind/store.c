// Backtraces of random frames, many of them siblings, that four threads add at once: each is there once, and reads as it was.
#include "unwind/store/store.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// platform/images/c_library.c: a program with threads.
const char *undead_single_threaded = "";

enum { THREADS = 4, BACKTRACES = 30000, DEPTH = 12 };

typedef struct {
  uint32_t count, frames[DEPTH];
} backtrace;

static backtrace known[BACKTRACES];
static uint32_t ids[THREADS][BACKTRACES];
static pthread_barrier_t start;

static void make(backtrace *made, uint32_t number) {
  made->count = 1 + (uint32_t)rand() % DEPTH;
  // Innermost first. One place of three thousand callers, one of few at each depth, and one of none.
  for (uint32_t i = 0; i < made->count; i++) made->frames[i] = 1 + (uint32_t)rand() % (number % 3 == 0 ? 3000 : 3);
}

// As a capture does that finds the outer frames in the store, and the others not: all at once from the first one that is new.
static uint32_t add_path(const backtrace *wanted) {
  uint32_t run_length = wanted->count < UNDEAD_RUN_FRAMES ? wanted->count : UNDEAD_RUN_FRAMES, run = undead_store_runs();
  for (uint32_t i = run_length; i > 0; i--) run = undead_store_child(run, wanted->frames[i - 1]);
  uint32_t keys[DEPTH], nodes[DEPTH], count = 0, node = UNDEAD_TRIE_ROOT;
  for (uint32_t i = wanted->count; i > run_length; i--) keys[count++] = wanted->frames[i - 1];
  keys[count++] = run | UNDEAD_RUN_BIT;
  for (uint32_t done = 0, found; done < count; done += found) {
    if (!(found = undead_store_path(node, keys + done, count - done, nodes + done))) return 0;
    for (uint32_t i = done; i < done + found; node = nodes[i++])
      if (undead_store_parent(nodes[i]) != node || undead_trie_at(nodes[i])->pc_index != keys[i]) return 0;
  }
  return node;
}

static void *add(void *context) {
  uint32_t thread = (uint32_t)(uintptr_t)context;
  pthread_barrier_wait(&start);
  for (uint32_t step = 0; step < BACKTRACES; step++) {
    uint32_t i = thread % 2 ? BACKTRACES - 1 - step : step;
    ids[thread][i] = thread < 2 ? undead_store_add(known[i].frames, known[i].count) : add_path(&known[i]);
  }
  return NULL;
}

static int fail(const char *what, uint32_t number) {
  printf("backtrace %u: %s\n", number, what);
  return 1;
}

// True if the links from each node of a backtrace lead to children of its caller alone, and to nothing else.
static bool links_agree(uint32_t id) {
  for (uint32_t node = id, parent; node > UNDEAD_TRIE_SCOPES; node = parent) {
    parent = undead_store_parent(node);
    uint32_t links[] = {undead_store_first_link(parent), undead_store_link_behind(node)};
    for (int i = 0; i < 2; i++) {
      uint32_t next = undead_trie[links[i]];
      bool is_node = next && !(next & (UNDEAD_FAN_BIT | UNDEAD_PARENT_BIT));
      uint32_t pc_index = is_node ? undead_trie_at(next)->pc_index : undead_trie_at(node)->pc_index;
      if (undead_store_linked(links[i], pc_index) != (is_node ? next : 0)) return false;
      if (undead_store_linked(links[i], pc_index + 1) != 0 || (is_node && undead_store_parent(next) != parent)) return false;
    }
  }
  return true;
}

static undead_scoped_nodes scoped;

int main(void) {
  if (!undead_store_prepare()) return 2;
  for (uint32_t i = 0; i < BACKTRACES; i++) make(&known[i], i);
  pthread_barrier_init(&start, NULL, THREADS);
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, add, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  uint32_t words = undead_store_count();
  for (uint32_t i = 0; i < BACKTRACES; i++) {
    uint32_t id = ids[0][i], frames[DEPTH + 1], scope_node = 0;
    for (int thread = 1; thread < THREADS; thread++)
      if (ids[thread][i] != id) return fail("is there twice", i);
    if (!id || undead_store_read(id, frames, DEPTH + 1) != known[i].count) return fail("has another length", i);
    if (memcmp(frames, known[i].frames, known[i].count * sizeof *frames)) return fail("has other frames", i);
    if (undead_store_add(known[i].frames, known[i].count) != id || undead_store_count() != words) return fail("was not found", i);
    if (!links_agree(id)) return fail("has links that lead elsewhere", i);
    if (i % 100) continue;
    uint32_t tagged = undead_store_in_scope(id, 1 + i % 7, &scope_node, i % 200 ? &scoped : NULL);
    if (undead_store_scope(tagged) != 1 + i % 7 || undead_store_scope(id) != 0) return fail("tells another scope", i);
    if (undead_store_read(tagged, frames, DEPTH + 1) != known[i].count) return fail("has another length in its scope", i);
    words = undead_store_count();
  }
  // What a thread takes for a node that another one adds first is lost, so the words are counted with one thread.
  undead_store_clear();
  for (uint32_t i = 0; i < BACKTRACES; i++) {
    uint32_t id = i % 2 ? undead_store_add(known[i].frames, known[i].count) : add_path(&known[i]);
    if (!id || undead_store_add(known[i].frames, known[i].count) != id) return fail("is not there the same way", i);
  }
  words = undead_store_count();
  printf("%u words\n", words);
  // A node of a frame takes three words, that of a run two: with a word for the parent in each it would be 324,000.
  return words > 250000;
}
