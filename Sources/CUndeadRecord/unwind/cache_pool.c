#define _GNU_SOURCE
#if defined(__x86_64__)
#include "unwind/cache_pool.h"
#include "platform/memory.h"
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#define POOL_LIMIT 1024u
#define SLOT_BYTES ((sizeof(undead_unwind_cache) + 4095) & ~(size_t)4095)

static uint8_t *pool;
static uint32_t pool_count;
static uint8_t in_use[POOL_LIMIT];

static pthread_key_t thread_end_key;
enum { KEY_NONE, KEY_BEING_MADE, KEY_READY, KEY_FAILED };
static uint32_t key_state;

static uint32_t slots_allowed(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return POOL_LIMIT;
  uint64_t share = limit.rlim_cur / 64 / SLOT_BYTES;
  return share < 4 ? 4 : share < POOL_LIMIT ? (uint32_t)share : POOL_LIMIT;
}

static bool prepare_pool(void) {
  if (__atomic_load_n(&pool, __ATOMIC_ACQUIRE)) return true;
  uint32_t count = slots_allowed();
  uint8_t *fresh = undead_map(count * SLOT_BYTES), *expected = NULL;
  if (!fresh) return false;
  if (__atomic_compare_exchange_n(&pool, &expected, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    __atomic_store_n(&pool_count, count, __ATOMIC_RELEASE);
  else
    undead_unmap(fresh, count * SLOT_BYTES);
  return true;
}

undead_unwind_cache *undead_cache_claim(void) {
  if (!prepare_pool()) return NULL;
  uint32_t count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
  for (uint32_t index = 0; index < count; index++) {
    if (__atomic_load_n(&in_use[index], __ATOMIC_RELAXED)) continue;
    if (!__atomic_exchange_n(&in_use[index], 1, __ATOMIC_ACQ_REL))
      return (undead_unwind_cache *)(pool + index * SLOT_BYTES);
  }
  return NULL;
}

void undead_cache_release(undead_unwind_cache *cache) {
  undead_capture_reset(cache, UNDEAD_CACHE_BUSY);
  cache->state = 0;
  __atomic_store_n(&in_use[((uint8_t *)cache - pool) / SLOT_BYTES], 0, __ATOMIC_RELEASE);
}

// Runs when a thread ends. Destructors that come later still allocate: without a cache.
static void thread_ended(void *cache) {
  undead_thread.without_cache = 1;
  undead_thread.unwind_cache = NULL;
  undead_cache_release(cache);
}

static bool prepare_key(void) {
  uint32_t state = KEY_NONE;
  if (__atomic_compare_exchange_n(&key_state, &state, KEY_BEING_MADE, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    state = pthread_key_create(&thread_end_key, thread_ended) == 0 ? KEY_READY : KEY_FAILED;
    __atomic_store_n(&key_state, state, __ATOMIC_RELEASE);
  }
  return state == KEY_READY;
}

undead_unwind_cache *undead_cache_of_thread(undead_thread_state *thread) {
  if (thread->unwind_cache || thread->without_cache) return thread->unwind_cache;
  // pthread_setspecific may allocate, which must not lead here again.
  thread->without_cache = 1;
  int saved = errno;
  undead_unwind_cache *cache = prepare_key() ? undead_cache_claim() : NULL;
  if (cache && pthread_setspecific(thread_end_key, cache) != 0) {
    undead_cache_release(cache);
    cache = NULL;
  }
  errno = saved;
  thread->unwind_cache = cache;
  thread->without_cache = 0;
  return cache;
}

void undead_cache_pool_after_fork_in_child(undead_unwind_cache *own) {
  if (!pool) return;
  for (uint32_t index = 0; index < pool_count; index++) {
    undead_unwind_cache *cache = (undead_unwind_cache *)(pool + index * SLOT_BYTES);
    if (in_use[index] && cache != own) undead_cache_release(cache);
  }
  // Another thread may have been making the key.
  if (key_state == KEY_BEING_MADE) key_state = KEY_NONE;
}
#endif
