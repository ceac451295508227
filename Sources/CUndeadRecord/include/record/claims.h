// The blocks that earlier checks of this process called leaks. A leak is never freed: if one is, the check was wrong.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define UNDEAD_MOST_CLAIMS (1u << 17)        // more are not remembered; they are counted
#define UNDEAD_MOST_REFUTATIONS 128u         // more are only counted
#define UNDEAD_REFUTATION_PATH_BYTES 512u

// A block that a check called a leak.
typedef struct {
  uintptr_t block;        // 0 once it was taken away
  uintptr_t address;      // stays
  uint64_t size;
  uintptr_t isa;
  uint32_t allocation;    // id of the backtrace
  uint32_t check;         // number of the first check that called it a leak, from 1
  uint32_t strong;        // how often it was retained then, 0: not known
  uint32_t counted;       // references of what leaked that explain it
  uint16_t why;           // UNDEAD_NODE_*: why the check was certain (runtime/found.h)
  uint8_t kind;           // undead_kind
  uint8_t state;          // undead_state
  bool revivable;         // a weak or unowned reference outside of what leaked leads to it
  bool refuted;           // but it is still there
} undead_claim;

// How a claim turned out to be wrong. The values are those of the snapshot's section REFUTED.
typedef enum {
  UNDEAD_REFUTED_FREED = 1,      // the program freed it
  UNDEAD_REFUTED_GONE = 2,       // it was freed or resized, and no hook saw by whom
  UNDEAD_REFUTED_REACHED = 3,    // a global, a thread's own variable or the heap behind them leads to it
  UNDEAD_REFUTED_NAMED = 4,      // a stack, a register or a number names it, perhaps by a stale value
  UNDEAD_REFUTED_COUNTED = 5,    // it was retained or released
} undead_refutation_kind;

typedef struct {
  undead_claim claim;
  uint32_t how;           // undead_refutation_kind
  uint32_t check;         // number of the check that found it, or was to come next
  uint32_t end;           // id of the backtrace of the free, 0 if there is none
  char path[UNDEAD_REFUTATION_PATH_BYTES];   // what leads to it, as text
  bool complete;          // written
} undead_refutation;

// How many of each kind there were, those with no room included. What a weak or unowned reference may have brought back is
// counted apart, whatever became of it.
typedef struct {
  uint64_t claimed;   // blocks that were called leaks, each once
  uint64_t refuted, named, revived, forgotten;
} undead_claim_counts;

// From now on these are the claims; `fill` writes them, at most UNDEAD_MOST_CLAIMS. One caller at a time, and no hook waits.
typedef uint32_t (*undead_claim_filler)(void *context, undead_claim *claims, uint32_t room);
void undead_claims_count_new(uint64_t claimed, uint64_t forgotten);
bool undead_claims_set(undead_claim_filler fill, void *context);
// Claims that are still there, in no order. Valid until the next undead_claims_set.
undead_claim *undead_claims_list(uint32_t *count);
// The claim about this block, NULL if there is none.
undead_claim *undead_claim_of(uintptr_t block);
// True if there was one since the last undead_claims_set, which was taken away.
bool undead_claim_was_taken(uintptr_t block);
// Takes a claim about this block away, for good; false if another thread did. From then on its block may be another one.
bool undead_claim_take(undead_claim *claim, uintptr_t block);
// The block died where no free() is called. `end`: id of the backtrace.
void undead_claim_died(uintptr_t block, uint32_t end);
// Notes how a claim turned out to be wrong; once for each claim and kind of memory.
void undead_claim_refute(undead_claim *claim, undead_refutation_kind how, uint32_t end, const char *path);
// The number of checks so far, and one more.
uint32_t undead_claims_checks(void);
void undead_claims_next_check(void);
// Forgets all: in a forked child, or when recording forgets all blocks.
void undead_claims_forget(void);

undead_claim_counts undead_claims_count(void);
// The `index`-th refutation, from 0; NULL behind the last one.
const undead_refutation *undead_claims_refutation(uint32_t index);

#pragma GCC visibility pop
