#include "scan/mark/pool.h"
#include "platform/processor/processor.h"
#include "world/crew.h"
#include <linux/futex.h>
#include <string.h>
#include <time.h>

enum {
  MOST_AT_ONCE = 1024,     // blocks that change hands
  STOCK = 256,             // that are kept for each thread
  LEAST_TO_SHARE = 8,      // less is soon done: a list is one thread's work
  LEAST_FOR_STOCK = 64,
  TURNS = 1000,            // that a thread waits before it sleeps
  TURNS_OF_LOCK = 100,
};

void undead_spin_lock(uint32_t *lock) {
  for (uint32_t turns = 1; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); turns++) {
    if (turns % TURNS_OF_LOCK) undead_spin();
    else undead_raw3(SYS_sched_yield, 0, 0, 0);
  }
}

static uint64_t guess(const uint64_t *count) { return __atomic_load_n(count, __ATOMIC_RELAXED); }
static void set(uint64_t *count, uint64_t value) { __atomic_store_n(count, value, __ATOMIC_RELAXED); }

// A thread that is about to sleep has counted itself before it compares the event: one of both sees the other.
static void unlock_and_wake(undead_pool *pool) {
  __atomic_add_fetch(&pool->event, 1, __ATOMIC_SEQ_CST);
  undead_spin_unlock(&pool->lock);
  if (__atomic_load_n(&pool->sleepers, __ATOMIC_SEQ_CST))
    undead_raw4(SYS_futex, (long)&pool->event, FUTEX_WAKE, UNDEAD_MOST_CREW, 0);
}

static void sleep_until(undead_pool *pool, uint32_t event) {
  struct timespec most = {0, 2000000};   // then he looks whether all are to leave
  __atomic_add_fetch(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
  undead_raw4(SYS_futex, (long)&pool->event, FUTEX_WAIT, event, (long)&most);
  __atomic_sub_fetch(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
}

static void wait_for(undead_pool *pool, uint32_t event) {
  for (int turn = 0; turn < TURNS; turn++) {
    if (__atomic_load_n(&pool->event, __ATOMIC_RELAXED) != event || undead_crew_leaves()) return;
    undead_spin();
  }
  sleep_until(pool, event);
}

static bool move(undead_worklist *from, uint64_t *left, undead_worklist *to) {
  uint64_t count = *left > 2 * MOST_AT_ONCE ? MOST_AT_ONCE : (*left + 1) / 2;
  for (uint64_t i = 0; i < count; i++) undead_worklist_push(to, undead_worklist_pop(from));
  set(left, *left - count);
  return count != 0;
}

bool undead_pool_take(undead_pool *pool, undead_worklist *own, bool first) {
  undead_spin_lock(&pool->lock);
  pool->idle++;
  while (!pool->over && !undead_crew_leaves()) {
    if ((first && move(&pool->for_first, &pool->first_left, own)) || move(&pool->blocks, &pool->blocks_left, own)) {
      pool->idle--;
      undead_spin_unlock(&pool->lock);
      return true;
    }
    if (pool->idle == pool->threads && !pool->first_left) break;
    uint32_t event = pool->event;
    undead_spin_unlock(&pool->lock);
    wait_for(pool, event);
    undead_spin_lock(&pool->lock);
  }
  pool->over = true;
  unlock_and_wake(pool);
  return false;
}

// The oldest blocks of a short list, which lead to most; the latest of a long one, which take no moving.
static uint64_t give(undead_pool *pool, undead_worklist *own, uint64_t size) {
  uint64_t count = size > 2 * MOST_AT_ONCE ? MOST_AT_ONCE : size / 2;
  if (own->index == 0 && size <= 4 * MOST_AT_ONCE) {
    for (uint64_t i = 0; i < count; i++) undead_worklist_push(&pool->blocks, own->segment[0][i]);
    own->top -= count;
    memmove(own->segment[0], own->segment[0] + count, own->top * sizeof(uintptr_t));
  } else {
    for (uint64_t i = 0; i < count; i++) undead_worklist_push(&pool->blocks, undead_worklist_pop(own));
  }
  return count;
}

void undead_pool_share(undead_pool *pool, undead_worklist *own) {
  uint64_t size = undead_worklist_size(own);
  bool needed = __atomic_load_n(&pool->idle, __ATOMIC_RELAXED) || size >= LEAST_FOR_STOCK;
  if (size < LEAST_TO_SHARE || !needed || guess(&pool->blocks_left) >= STOCK * (uint64_t)pool->threads) return;
  undead_spin_lock(&pool->lock);
  set(&pool->blocks_left, pool->blocks_left + give(pool, own, size));
  unlock_and_wake(pool);
}

void undead_pool_leave_to_first(undead_pool *pool, undead_worklist *list) {
  if (!undead_worklist_has(list)) return;
  undead_spin_lock(&pool->lock);
  for (uintptr_t block; (block = undead_worklist_pop(list)); set(&pool->first_left, pool->first_left + 1))
    undead_worklist_push(&pool->for_first, block);
  unlock_and_wake(pool);
}

void undead_pool_close(undead_pool *pool) {
  undead_worklist_close(&pool->blocks);
  undead_worklist_close(&pool->for_first);
}
