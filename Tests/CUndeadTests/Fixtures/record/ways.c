// The hooks take their short way where that is enough, and only there; new blocks are cleared in all ways. Linked with the
// sources of the instrument.
#define _GNU_SOURCE
#include "check.h"
#include "record/avoid.h"
#include "record/free_filter.h"
#include "record/mode.h"
#include "record/registry.h"
#include "record/way.h"
#include "undead_scopes.h"
#include "unwind/store/store.h"
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <sys/mman.h>

static uint32_t way(void) { return undead_way & ~UNDEAD_WAY_COUNT; }

static uint32_t word(const void *block) {
  uint32_t *slot = undead_registry_slot((uintptr_t)block);
  return slot ? *slot : 0;
}

static bool is_known(const void *block) { return word(block) != 0; }

static uint32_t word_of_new_block(void) {
  void *block = malloc(40);
  uint32_t found = word(block);
  free(block);
  CHECK(!is_known(block));
  return found;
}

static uint32_t watched;
static void watch(uint32_t id, uintptr_t pc) { (void)pc, watched = id; }

static void modes(void) {
  CHECK(word_of_new_block() > undead_backtrace_none);
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_FREE));
  void *before = malloc(40);
  undead_record_stop();
  CHECK(way() == UNDEAD_WAY_OFF);
  CHECK(word_of_new_block() == 0);
  CHECK(is_known(before));
  free(before);
  CHECK(!is_known(before));
  undead_record_start(UNDEAD_RECORD_BLOCKS);
  CHECK(way() == (UNDEAD_WAY_BLOCKS | UNDEAD_WAY_FREE));
  CHECK(word_of_new_block() == undead_backtrace_none);
  undead_record_start(UNDEAD_RECORD_BACKTRACES);
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_FREE));
  undead_capture_watcher = watch;
  undead_way_choose();
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_EXTRAS | UNDEAD_WAY_FREE));
  uint32_t captured = word_of_new_block();
  CHECK(captured > undead_backtrace_none && watched == captured);
  undead_capture_watcher = NULL;
  undead_way_choose();
}

// While a scope is open each block belongs to one, while addresses are avoided and while none are.
static void scopes(void) {
  uint32_t scope = undead_scope_open();
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_EXTRAS | UNDEAD_WAY_FREE));
  void *first = malloc(40);
  undead_avoid_no_longer();
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_EXTRAS | UNDEAD_WAY_FREE));
  void *block = malloc(40);
  CHECK(undead_scope_of_block(first) == UNDEAD_SCOPE_OUTSIDE && undead_scope_of_block(block) == UNDEAD_SCOPE_OUTSIDE);
  undead_record_start(UNDEAD_RECORD_BLOCKS);
  CHECK(way() == (UNDEAD_WAY_BLOCKS | UNDEAD_WAY_EXTRAS | UNDEAD_WAY_FREE));
  void *bare = malloc(40);
  CHECK(undead_scope_of_block(bare) == UNDEAD_SCOPE_OUTSIDE);
  undead_record_start(UNDEAD_RECORD_BACKTRACES);
  undead_scope_close(scope);
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_FREE));
  void *after = malloc(40);
  CHECK(undead_scope_of_block(after) == 0);
  free(after), free(bare), free(block), free(first);
}

static void avoid(const void *address) {
  uintptr_t words[] = {(uintptr_t)address};
  undead_avoid_words((uintptr_t)words, (uintptr_t)(words + 1));
}

// A block of that size where one was whose address is avoided at `offset`.
static void avoided_at(size_t size, size_t offset) {
  char *block = malloc(size);
  free(block);
  avoid(block + offset);
  CHECK(way() & UNDEAD_WAY_EXTRAS);
  char *other = malloc(size);
  CHECK(other && (block + offset < other || block + offset >= other + malloc_usable_size(other)));
  CHECK(is_known(other));
  undead_avoid_no_longer();
  CHECK((way() & UNDEAD_WAY_EXTRAS) == 0);
  free(other);
}

// Complemented, as a scope avoids what stands on the stack.
static uintptr_t hidden;
static __attribute__((noinline)) void clear_stack(void) {
  char room[100000];
  memset(room, 0, sizeof room);
  __asm__ volatile("" : : "r"(room) : "memory");
}
static __attribute__((noinline)) void free_one(void) {
  void *block = malloc(56);
  hidden = ~(uintptr_t)block;
  free(block);
}
static __attribute__((noinline)) bool is_handed_out(void) {
  uint32_t scope = undead_scope_open();
  void *block = malloc(56);
  bool same = (uintptr_t)block == ~hidden;
  free(block);
  undead_scope_close(scope);
  return same;
}

// What a look finds is avoided in scopes that are opened later, until the next look.
static void found_by_a_look(void) {
  free_one();
  clear_stack();
  CHECK(is_handed_out());
  clear_stack();
  undead_avoid_look();
  undead_avoid_address(~hidden);
  clear_stack();
  CHECK(!is_handed_out());
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_FREE));
  clear_stack();
  undead_avoid_look();
  CHECK(is_handed_out());
}

static void avoided(void) {
  avoided_at(24, 0);
  avoided_at(40, 16);
  avoided_at(1000, 992);   // more than the filter shows at once
  avoided_at(3000, 2048);  // in the long way
  undead_record_start(UNDEAD_RECORD_BLOCKS);
  avoided_at(40, 32);
  undead_record_start(UNDEAD_RECORD_BACKTRACES);
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_FREE));
}

// A scope clears what lies below the frames of a stack, and nothing behind its end.
static void *open_scope(void *unused) {
  undead_scope_close(undead_scope_open());
  return unused;
}
static void stack_beside_other_memory(void) {
  enum { BELOW = 256 << 10, STACK = 64 << 10 };
  unsigned char *memory = mmap(NULL, BELOW + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 0x5A, BELOW);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  CHECK(pthread_attr_setstack(&attributes, memory + BELOW, STACK) == 0);
  CHECK(pthread_create(&thread, &attributes, open_scope, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  for (int i = 0; i < BELOW; i++) CHECK(memory[i] == 0x5A);
  munmap(memory, BELOW + STACK);
}

// What a thread tags in a scope is reported as such, and does not grow without end where more backtraces take turns than it remembers.
static void scoped_nodes(void) {
  enum { FIRST = 1000, MANY = 5 * UNDEAD_MOST_UNLISTED };
  static undead_scoped_nodes known;
  uint32_t node = 0, before = 0;
  for (int pass = 0; pass < 3; pass++) {
    before = undead_store_count();
    for (uint32_t id = FIRST; id < FIRST + MANY; id++) {
      uint32_t tagged = undead_store_in_scope(id, 7, &node, &known);
      CHECK(undead_store_scope(tagged) == 7 && undead_store_unscoped(tagged) == id);
    }
  }
  CHECK(undead_store_count() == before);
  uint32_t other = undead_store_in_scope(FIRST, 8, &node, &known), again = undead_store_in_scope(FIRST, 8, &node, &known);
  CHECK(undead_store_scope(other) == 8 && undead_store_unscoped(other) == FIRST && other == again);
  uint32_t shared = undead_store_in_scope(FIRST, 8, &node, NULL);
  CHECK(undead_store_scope(shared) == 8 && undead_store_unscoped(shared) == FIRST);
  CHECK(shared == undead_store_in_scope(FIRST, 8, &node, NULL));
}

static ucontext_t outside, inside;
static void open_a_scope(void) { undead_scope_close(undead_scope_open()); }

// A context whose stack is an array in a frame of the thread: what lies below the array are other frames.
static void scope_on_an_array(void) {
  static const size_t size = 32 << 10;
  char frames[2 * (32 << 10)];
  memset(frames, 0x5A, sizeof frames);
  getcontext(&inside);
  inside.uc_stack.ss_sp = frames + size;
  inside.uc_stack.ss_size = size;
  inside.uc_link = &outside;
  makecontext(&inside, open_a_scope, 0);
  swapcontext(&outside, &inside);
  size_t changed = 0;
  for (size_t i = 0; i < size; i++) changed += frames[i] != 0x5A;
  CHECK(changed == 0);
}

static void *kept;
static bool keep(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  (void)pc, (void)sp, (void)bp;
  return block == kept;
}

static void filtered(void) {
  kept = malloc(40);
  undead_free_filter_keep(keep);
  free(kept);
  CHECK(is_known(kept));
  CHECK(word_of_new_block() != 0);
  undead_free_filter_keep(NULL);
  free(kept);
  CHECK(!is_known(kept));
}

// Threads that change different things at the same time: in the end the way is that of all of them.
static void *open_and_close(void *unused) {
  for (int i = 0; i < 20000; i++) undead_scope_close(undead_scope_open());
  return unused;
}

static void *change_filter(void *unused) {
  for (int i = 0; i < 20000; i++) {
    undead_free_filter_keep(i & 1 ? NULL : keep);
    bool frees = way() & UNDEAD_WAY_FREE;
    CHECK(frees == (i & 1));
  }
  return unused;
}

static void at_the_same_time(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i ? open_and_close : change_filter, NULL);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_FREE));
}

static void cleared(void) {
  for (size_t size = 1; size < 3000; size += size < 400 ? 1 : 97)
    for (int round = 0; round < 3; round++) {
      char *block = round < 2 ? malloc(size) : calloc(1, size);
      size_t usable = malloc_usable_size(block);
      for (size_t i = 0; i < usable; i++)
        if (block[i]) {
          CHECK(!"a new block is not cleared");
          break;
        }
      memset(block, 0xFF, usable);
      // What lies behind it is somebody else's.
      void *next = malloc(size);
      CHECK(((size_t *)block)[-1] >> 3 << 3 == ((usable + 8) & ~(size_t)7));
      memset(next, 0xFF, malloc_usable_size(next));
      free(block);
      free(next);
    }
}

// In a child of a process with several threads: what it allocates itself bears a mark, in the short way, too.
static void own(void) {
  void *inherited = malloc(40);
  undead_registry_inherit();
  CHECK(way() == (UNDEAD_WAY_STACKS | UNDEAD_WAY_FREE));
  CHECK(!(word(inherited) & UNDEAD_WORD_OWN));
  CHECK(word_of_new_block() & UNDEAD_WORD_OWN);
  void *large = malloc(5000), *cleared = calloc(1, 40), *resized = realloc(NULL, 40);
  CHECK(word(large) & word(cleared) & word(resized) & UNDEAD_WORD_OWN);
  free(large), free(cleared), free(resized), free(inherited);
}

int main(void) {
  modes();
  scopes();
  avoided();
  found_by_a_look();
  scope_on_an_array();
  stack_beside_other_memory();
  scoped_nodes();
  filtered();
  at_the_same_time();
  cleared();
  own();
  return failures != 0;
}
