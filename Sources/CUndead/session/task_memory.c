// The memory of the running task, where the frames of its asynchronous functions lie.
#include "undead_assertions.h"
#include "platform/words.h"
#include "record/avoid.h"
#include "record/scopes.h"
#include "runtime/abi.h"
#include <string.h>

// More than the frames of an assertion and of a check have there, also in a debug build.
#define ROOM_BYTES (16u << 10)
#define MOST_SLABS 64   // of a task that is looked at

// Exported by the concurrency library (stdlib/public/Concurrency/TaskAlloc.cpp).
extern void *swift_task_alloc(size_t size) __attribute__((swiftcall));
extern void swift_task_dealloc(void *address) __attribute__((swiftcall, weak));
extern void *swift_task_getCurrent(void) __attribute__((swiftcall, weak));
// What each slab begins with (stdlib/public/Concurrency/Debug.h).
extern const void *const _swift_concurrency_debug_asyncTaskSlabMetadata __attribute__((weak));

static void *current_task(void) {
  return swift_task_dealloc && swift_task_getCurrent ? swift_task_getCurrent() : NULL;
}

void undead_scope_avoid_task(void) {
  uintptr_t task = (uintptr_t)current_task();
  if (!task || !&_swift_concurrency_debug_asyncTaskSlabMetadata) return;
  uintptr_t isa = (uintptr_t)_swift_concurrency_debug_asyncTaskSlabMetadata;
  uintptr_t slab = word_at(task + ABI_TASK_FIRST_SLAB);
  // Nobody else uses the memory of a task that runs.
  for (int i = 0; i < MOST_SLABS && slab && slab % 8 == 0 && word_at(slab) == isa; i++) {
    undead_avoid_words(slab + ABI_SLAB_HEADER, slab + ABI_SLAB_HEADER + *(const uint32_t *)(slab + ABI_SLAB_CAPACITY));
    slab = word_at(slab + ABI_SLAB_NEXT);
  }
}

void *undead_task_leave_room(void) {
  void *room = current_task() ? swift_task_alloc(ROOM_BYTES) : NULL;
  if (!room) return NULL;
  // What our own frames on the way here held is free by now.
  if (__atomic_load_n(&undead_open_scopes, __ATOMIC_ACQUIRE)) undead_scope_avoid_task();
  return memset(room, 0, ROOM_BYTES);
}

void undead_task_take_room(void *room) {
  if (room) swift_task_dealloc(room);
}
