// Claims: what a check called a leak is looked for among the blocks that are freed, and only while there are claims. Linked with the
// sources of the instrument.
#define _GNU_SOURCE
#include "check.h"
#include "record/claims.h"
#include "record/free_filter.h"
#include "record/mode.h"
#include "record/way.h"
#include "unwind/backtrace.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 3000 };

static void *blocks[MANY];
static uint32_t claimed;

static uint32_t fill(void *context, undead_claim *claims, uint32_t room) {
  (void)context;
  for (uint32_t i = 0; i < claimed && i < room; i++)
    claims[i] = (undead_claim){.block = (uintptr_t)blocks[i], .address = (uintptr_t)blocks[i], .size = 40, .check = 1};
  return claimed;
}

static void claim(uint32_t count) {
  claimed = count;
  CHECK(undead_claims_set(fill, NULL));
}

static bool is_short(void) { return undead_way & UNDEAD_WAY_FREE; }

static __attribute__((noinline)) void free_here(void *block) {
  free(block);
  __asm__ volatile("");
}

static void freed(void) {
  CHECK(is_short());
  for (int i = 0; i < MANY; i++) blocks[i] = malloc(40);
  claim(1);
  CHECK(!is_short() && undead_claim_of((uintptr_t)blocks[0]) && !undead_claim_of((uintptr_t)blocks[1]));
  free(blocks[1]);
  CHECK(undead_claims_count().refuted == 0);
  free_here(blocks[0]);
  CHECK(undead_claims_count().refuted == 1);
  const undead_refutation *found = undead_claims_refutation(0);
  CHECK(found && found->complete && found->how == UNDEAD_REFUTED_FREED && found->claim.block == (uintptr_t)blocks[0]);
  uintptr_t frames[8];
  CHECK(undead_backtrace_frames(found->end, frames, 8) > 0);
  CHECK(frames[0] > (uintptr_t)free_here && frames[0] < (uintptr_t)free_here + 64);
  // The next block at the address is another one.
  CHECK(!undead_claim_of((uintptr_t)blocks[0]) && undead_claim_was_taken((uintptr_t)blocks[0]));
  void *next = malloc(40);
  free(next);
  CHECK(undead_claims_count().refuted == 1 && !undead_claims_refutation(1));
  claim(0);
  CHECK(is_short());
}

static void *free_all(void *unused) {
  for (int i = 0; i < MANY; i++) {
    void *mine = __atomic_exchange_n(&blocks[i], NULL, __ATOMIC_ACQ_REL);
    if (mine) free(mine);
  }
  return unused;
}

// Each is counted once, however many threads free and whatever has room.
static void by_threads(void) {
  undead_claims_forget();
  for (int i = 0; i < MANY; i++) blocks[i] = malloc(24 + i % 200);
  claim(MANY);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, free_all, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK(undead_claims_count().refuted == MANY);
  CHECK(undead_claims_refutation(UNDEAD_MOST_REFUTATIONS - 1) && !undead_claims_refutation(UNDEAD_MOST_REFUTATIONS));
  undead_claims_forget();
  CHECK(is_short() && undead_claims_count().refuted == 0 && !undead_claims_refutation(0));
}

static void *kept;
static bool keep(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  (void)pc, (void)sp, (void)bp;
  return block == kept;
}

// The keeper keeps blocks with and without claims.
static void kept_blocks(void) {
  blocks[0] = kept = malloc(40);
  memset(kept, 7, 40);
  undead_free_filter_keep(keep);
  claim(1);
  free(kept);
  CHECK(undead_claims_count().refuted == 1 && *(char *)kept == 7);
  claim(0);
  free(kept);
  CHECK(*(char *)kept == 7 && !is_short());
  undead_free_filter_keep(NULL);
  CHECK(is_short());
  free(kept);
}

static void forked(void) {
  blocks[0] = malloc(40);
  claim(1);
  pid_t child = fork();
  if (child == 0) {
    undead_record_after_fork_in_child();
    free(blocks[0]);
    _exit(undead_claims_count().refuted == 0 && is_short() ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(undead_claim_of((uintptr_t)blocks[0]));
}

int main(void) {
  undead_record_start(UNDEAD_RECORD_BACKTRACES);
  free(malloc(1));
  freed();
  by_threads();
  kept_blocks();
  forked();
  return failures != 0;
}
