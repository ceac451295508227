// Memory that looks alive but is not: recycled blocks, unused parts of slabs, dead frames. Each recogniser checks what
// it finds and falls back to plain scanning, so that a doubt hides a leak but never invents one.
#pragma once
#include "scan/blocks/heap.h"
#include "world/images.h"
#include "world/world.h"

#define UNDEAD_MAX_CACHED 65536u

typedef struct undead_stale {
  uintptr_t slab_isa;               // first word of a slab of task memory, 0 if unknown
  uintptr_t worker_low, worker_high;   // _dispatch_worker_thread
  uintptr_t drain_low, drain_high;     // _dispatch_event_loop_drain
  undead_interval waits[2];            // _dispatch_sema4_timedwait, _dispatch_semaphore_wait_slow
  uintptr_t manager_queue;             // _dispatch_mgr_q
  uintptr_t allocator_low, allocator_high;   // _dispatch_continuation_alloc_from_heap
  uintptr_t *cached;                // recycled continuations of libdispatch, ascending: not to be scanned
  uint32_t cached_count;
} undead_stale;

// Finds the symbols; on the scanning thread with the world running. False without memory.
bool undead_stale_open(undead_stale *stale);
void undead_stale_close(undead_stale *stale);

// libdispatch's data of a thread, 0 if it has none or looks otherwise than expected.
uintptr_t undead_stale_dispatch_data(const undead_stopped_thread *thread);

// With the world stopped: lists the recycled continuations of all threads.
void undead_stale_find_cached(undead_stale *stale, const undead_heap *heap, const undead_world *world);

// Whether `thread` waits for work of libdispatch, with the live part of its stack from `low` to `high`: such a thread runs
// no code of the program, and its stack and registers have what is libdispatch's own, or what earlier work left.
bool undead_stale_is_idle(const undead_stale *stale, const undead_stopped_thread *thread, uintptr_t low, uintptr_t high);

bool undead_stale_is_cached(const undead_stale *stale, uintptr_t block);

// Whether `block` has the words of a continuation of libdispatch for a plain function or block.
bool undead_stale_looks_like_continuation(uintptr_t block, size_t size);
// Whether a block that looks so certainly is one.
bool undead_stale_is_continuation(const undead_stale *stale, const undead_heap *heap, uintptr_t block);

// Where a continuation has words that only some uses of it set: the link and the voucher (`link` up to `function`), and
// the data (`data` up to `end`). In the others they hold what an earlier use left. Behind `end` nothing is in use.
typedef struct {
  uintptr_t link, function, data, end;
} undead_continuation_words;
undead_continuation_words undead_stale_continuation_words(uintptr_t block);
