#include "unwind/capture/cache_pool.h"
#include "platform/images/c_library.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "unwind/settings.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SLOT_BYTES ((sizeof(undead_unwind_cache) + 4095) & ~(size_t)4095)
// Caches lie in chunks, each twice as long as the one before; they are never unmapped.
#define FIRST_CHUNK 4u
#define CHUNKS 14u
#define SLOTS (FIRST_CHUNK * ((1u << CHUNKS) - 1))
// More free ones than this give their memory back.
#define WARM_SLOTS 64u
// A thread that leaves hooks in the middle again and again takes the same caches in turn.
#define MOST_RETIRED 4u

typedef struct {
  uint32_t next;     // in the list of free ones: index + 1, 0 at its end
  uint16_t retired;
  uint16_t filled;   // its first pages are there (fill)
  uintptr_t owner;   // undead_thread of the thread that has it, 0: free
} slot;

static slot *slots;
static uint8_t *chunks[CHUNKS];
static uint32_t used_slots;    // that were ever in use
static uint32_t most_slots;
static uint64_t free_list;     // index + 1 of the first, and above it a number that changes with each change
static uint32_t free_count;

static pthread_key_t thread_end_key;
// Values of `key_state`; any other is the thread that is making the key.
enum { KEY_NONE, KEY_READY, KEY_FAILED };
static uintptr_t key_state;

static uintptr_t self(void) { return (uintptr_t)&undead_thread; }

static uint32_t slots_allowed(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SLOTS;
  uint64_t share = limit.rlim_cur / 64 / SLOT_BYTES;
  return share < FIRST_CHUNK ? FIRST_CHUNK : share < SLOTS ? (uint32_t)share : SLOTS;
}

static bool prepare_pool(void) {
  if (__atomic_load_n(&slots, __ATOMIC_ACQUIRE)) return true;
  slot *fresh = undead_map(SLOTS * sizeof *fresh), *expected = NULL;
  if (!fresh) return false;
  __atomic_store_n(&most_slots, slots_allowed(), __ATOMIC_RELEASE);
  if (!__atomic_compare_exchange_n(&slots, &expected, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    undead_unmap(fresh, SLOTS * sizeof *fresh);
  return true;
}

static uint32_t chunk_of(uint32_t index) { return 31u - (uint32_t)__builtin_clz(index / FIRST_CHUNK + 1); }
static uint32_t first_of(uint32_t chunk) { return FIRST_CHUNK * ((1u << chunk) - 1); }

static undead_unwind_cache *cache_at(uint32_t index) {
  uint32_t chunk = chunk_of(index);
  uint8_t *known = __atomic_load_n(&chunks[chunk], __ATOMIC_ACQUIRE);
  if (!known) {
    size_t bytes = (FIRST_CHUNK << chunk) * SLOT_BYTES;
    uint8_t *fresh = undead_map(bytes);
    if (!fresh) return NULL;
    if (__atomic_compare_exchange_n(&chunks[chunk], &known, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) known = fresh;
    else undead_unmap(fresh, bytes);
  }
  return (undead_unwind_cache *)(known + (index - first_of(chunk)) * SLOT_BYTES);
}

static uint32_t index_of(const undead_unwind_cache *cache) {
  for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
    uintptr_t distance = (uintptr_t)cache - (uintptr_t)chunks[chunk];
    if (chunks[chunk] && distance < (FIRST_CHUNK << chunk) * SLOT_BYTES)
      return first_of(chunk) + (uint32_t)(distance / SLOT_BYTES);
  }
  assert(false);
  return 0;
}

static void push_free(uint32_t index) {
  uint64_t head = __atomic_load_n(&free_list, __ATOMIC_ACQUIRE);
  do __atomic_store_n(&slots[index].next, (uint32_t)head, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&free_list, &head, ((head >> 32) + 1) << 32 | (index + 1), 0, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE));
  __atomic_add_fetch(&free_count, 1, __ATOMIC_RELAXED);
}

static bool pop_free(uint32_t *index) {
  uint64_t head = __atomic_load_n(&free_list, __ATOMIC_ACQUIRE), rest;
  do {
    if (!(uint32_t)head) return false;
    *index = (uint32_t)head - 1;
    rest = ((head >> 32) + 1) << 32 | __atomic_load_n(&slots[*index].next, __ATOMIC_RELAXED);
  } while (!__atomic_compare_exchange_n(&free_list, &head, rest, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  __atomic_sub_fetch(&free_count, 1, __ATOMIC_RELAXED);
  return true;
}

static bool take_fresh(uint32_t *index) {
  uint32_t count = __atomic_load_n(&used_slots, __ATOMIC_RELAXED);
  do {
    if (count >= most_slots) return false;
  } while (!__atomic_compare_exchange_n(&used_slots, &count, count + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  *index = count;
  return true;
}

static undead_unwind_cache *claim(void) {
  uint32_t index;
  if (!prepare_pool() || (!pop_free(&index) && !take_fresh(&index))) return NULL;
  undead_unwind_cache *cache = cache_at(index);
  if (cache) __atomic_store_n(&slots[index].owner, self(), __ATOMIC_RELEASE);
  else push_free(index);
  return cache;
}

// The tables that each thread soon writes all over: one system call is less than a fault for each page, and another one where it
// is read first. Older kernels refuse.
static void fill(uint32_t index) {
  if (slots[index].filled) return;
  slots[index].filled = 1;
  madvise(cache_at(index), offsetof(undead_unwind_cache, frames), UNDEAD_MADV_POPULATE_WRITE);
}

// `clear`: it was a thread's own.
static void give_back(uint32_t index, bool clear) {
  undead_unwind_cache *cache = cache_at(index);
  // Where recording was stopped, system calls may be forbidden.
  if (__atomic_load_n(&free_count, __ATOMIC_RELAXED) >= WARM_SLOTS && undead_backtrace_goes_on) {
    int saved = errno;
    clear = madvise(cache, SLOT_BYTES, MADV_DONTNEED) != 0;
    slots[index].filled = clear;
    errno = saved;
  }
  if (clear) undead_capture_leave(cache);
  slots[index].retired = 0;
  __atomic_store_n(&slots[index].owner, 0, __ATOMIC_RELEASE);
  push_free(index);
}

void undead_cache_pool_clear(void) {
  for (uint32_t chunk = 0; chunk < CHUNKS; chunk++)
    if (chunks[chunk]) undead_clear_memory(chunks[chunk], (FIRST_CHUNK << chunk) * SLOT_BYTES);
}

// By themselves, as the others keep their frames on the program's stack.
__attribute__((noinline)) undead_unwind_cache *undead_cache_borrow(void) { return claim(); }
__attribute__((noinline)) void undead_cache_return(undead_unwind_cache *cache) { give_back(index_of(cache), false); }

// Gives back what the calling thread has: but for the retired ones, if `keep_retired`.
static void give_back_all(bool keep_retired) {
  uint32_t count = slots ? __atomic_load_n(&used_slots, __ATOMIC_ACQUIRE) : 0;
  for (uint32_t index = 0; index < count; index++)
    if (slots[index].owner == self() && !(keep_retired && slots[index].retired)) give_back(index, true);
}

// Runs when a thread ends. Destructors that come later still allocate: without a cache.
static void thread_ended(void *cache) {
  undead_thread.without_cache = UNDEAD_CACHE_GIVEN_BACK;
  undead_thread.unwind_cache = NULL;
  if (undead_thread.abandoned_hooks) give_back_all(false);
  else give_back(index_of(cache), true);
}

static bool prepare_key(void) {
  uintptr_t state = KEY_NONE;
  if (__atomic_compare_exchange_n(&key_state, &state, self(), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    state = undead_thread_key_create(&thread_end_key, thread_ended) ? KEY_READY : KEY_FAILED;
    __atomic_store_n(&key_state, state, __ATOMIC_RELEASE);
  }
  return state == KEY_READY;
}

undead_unwind_cache *undead_cache_of_thread(undead_thread_state *thread) {
  if (thread->unwind_cache || thread->without_cache) return thread->unwind_cache;
  // pthread_setspecific may allocate, which must not lead here again.
  thread->without_cache = UNDEAD_CACHE_BEING_MADE;
  int saved = errno;
  undead_unwind_cache *cache = prepare_key() ? claim() : NULL;
  if (cache && !undead_thread_key_set(thread_end_key, cache)) {
    give_back(index_of(cache), false);
    cache = NULL;
  }
  if (cache) fill(index_of(cache));
  errno = saved;
  thread->unwind_cache = cache;
  thread->without_cache = 0;
  return cache;
}

// The thread's retired cache that comes after `index`, in turn; NULL while there are few of them.
static undead_unwind_cache *take_retired(uint32_t index) {
  uint32_t count = __atomic_load_n(&used_slots, __ATOMIC_ACQUIRE), retired = 0, next = 0;
  for (uint32_t step = count; step > 0; step--) {
    uint32_t other = (index + step) % count;
    if (slots[other].owner != self() || !slots[other].retired) continue;
    retired++;
    next = other;   // in the end the nearest one behind `index`
  }
  if (retired < MOST_RETIRED) return NULL;
  slots[next].retired = 0;
  undead_unwind_cache *cache = cache_at(next);
  undead_capture_reset(cache, 0);
  return cache;
}

void undead_cache_abandoned(undead_thread_state *thread) {
  undead_unwind_cache *left = thread->unwind_cache;
  uintptr_t maker = self();
  if (thread->without_cache == UNDEAD_CACHE_BEING_MADE) thread->without_cache = 0;
  __atomic_compare_exchange_n(&key_state, &maker, KEY_NONE, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  thread->unwind_cache = NULL;
  if (left && !(left->state & UNDEAD_CACHE_BUSY)) {
    slots[index_of(left)].retired = 1;   // not to be given back
    give_back_all(true);
    slots[index_of(left)].retired = 0;
    thread->unwind_cache = left;
    return;
  }
  if (left) slots[index_of(left)].retired = 1;
  give_back_all(true);
  if (!left) return;
  undead_unwind_cache *next = take_retired(index_of(left));
  if (!next) next = claim();
  thread->unwind_cache = next;
  if (!next) return;
  int saved = errno;
  undead_thread_key_set(thread_end_key, next);
  errno = saved;
}

void undead_cache_pool_after_fork_in_child(undead_unwind_cache *own) {
  if (!slots) return;
  __atomic_store_n(&free_list, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&free_count, 0, __ATOMIC_RELEASE);
  for (uint32_t index = 0; index < used_slots && index < most_slots; index++) {
    if (own && index == index_of(own)) continue;
    if (chunks[chunk_of(index)]) give_back(index, true);
    else push_free(index);
  }
  // Another thread may have been making the key.
  if (key_state > KEY_FAILED) key_state = KEY_NONE;
}
