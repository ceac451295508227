// Blocks that are to be looked at by whichever thread has nothing to do (world/crew.h). What a thread finds it keeps to itself,
// until others need it: so the lock is taken once for many blocks.
#pragma once
#include "scan/blocks/worklist.h"

typedef struct {
  uint32_t lock;
  uint32_t threads;            // that take part; more than there are while they are being made
  uint32_t idle;               // of them; when all are, and nothing is left, `over` is set. Under the lock, as all that follows
  bool over;
  uint32_t event, sleepers;    // a futex that changes with each of these; who waits for it
  uint64_t blocks_left, first_left;   // on the lists; read without the lock for a guess
  undead_worklist blocks;
  undead_worklist for_first;   // only for the thread with the number 0
} undead_pool;

// Moves blocks of the pool to `own`, which is empty; waits for some. False if all threads wait, or are to leave.
bool undead_pool_take(undead_pool *pool, undead_worklist *own, bool first);
// Moves a part of `own` to the pool if others need it.
void undead_pool_share(undead_pool *pool, undead_worklist *own);
// Moves all of `list` to what only the first thread looks at.
void undead_pool_leave_to_first(undead_pool *pool, undead_worklist *list);
void undead_pool_close(undead_pool *pool);

void undead_spin_lock(uint32_t *lock);
static inline void undead_spin_unlock(uint32_t *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }
