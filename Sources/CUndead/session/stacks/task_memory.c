// The memory of the running task, and of those that wait for it, where the frames of asynchronous functions lie.
#include "undead_assertions.h"
#include "platform/memory/memory.h"
#include "platform/processor/words.h"
#include "record/avoid.h"
#include "record/scopes.h"
#include "runtime/abi.h"
#include <string.h>

// More than the frames of an assertion and of a check have there, also in a debug build.
#define ROOM_BYTES (16u << 10)
#define MOST_SLABS 64   // of a task that is looked at
#define MOST_SLAB_BYTES (1u << 20)
#define MOST_TASKS 16   // the running one, and those that wait for it
#define MOST_OWN_WORDS 128   // of a task's own block, in front of its memory
#define FRAGMENT_WORDS 16    // what may stand there behind the task itself: of a child, of a group, of a future
#define COPIED_WORDS 256
#define LOWEST_ADDRESS 0x10000u

// Exported by the concurrency library (stdlib/public/Concurrency/TaskAlloc.cpp).
extern void *swift_task_alloc(size_t size) __attribute__((swiftcall));
extern void swift_task_dealloc(void *address) __attribute__((swiftcall, weak));
extern void *swift_task_getCurrent(void) __attribute__((swiftcall, weak));
// What each slab begins with (stdlib/public/Concurrency/Debug.h).
extern const void *const _swift_concurrency_debug_asyncTaskSlabMetadata __attribute__((weak));
extern const size_t _swift_concurrency_debug_asyncTaskSize __attribute__((weak));

static void *current_task(void) {
  return swift_task_dealloc && swift_task_getCurrent ? swift_task_getCurrent() : NULL;
}

typedef struct {
  uintptr_t tasks[MOST_TASKS];
  int count;
} task_list;

static void note_task(task_list *list, uintptr_t type, uintptr_t address) {
  uintptr_t first;
  for (int i = 0; i < list->count; i++)
    if (list->tasks[i] == address) return;
  if (list->count == MOST_TASKS || address % 16 || address < LOWEST_ADDRESS) return;
  if (undead_copy_memory(address, &first, sizeof(first)) && first == type) list->tasks[list->count++] = address;
}

// A task's own block names the tasks that it belongs to, which wait for it.
static void note_relatives(task_list *list, uintptr_t type, uintptr_t task) {
  uintptr_t words[MOST_OWN_WORDS];
  size_t own = &_swift_concurrency_debug_asyncTaskSize ? _swift_concurrency_debug_asyncTaskSize : ABI_TASK_FIRST_SLAB;
  size_t count = own / sizeof(uintptr_t) + FRAGMENT_WORDS;
  if (count > MOST_OWN_WORDS) count = MOST_OWN_WORDS;
  if (!undead_copy_memory(task, words, count * sizeof(uintptr_t))) return;
  for (size_t i = 0; i < count; i++) note_task(list, type, words[i]);
}

// Other tasks may go on meanwhile, and end: what is read is what was there, or nothing.
static void avoid_copied(uintptr_t low, uintptr_t high) {
  uintptr_t words[COPIED_WORDS];
  for (; low < high; low += sizeof(words)) {
    size_t size = high - low < sizeof(words) ? high - low : sizeof(words);
    if (!undead_copy_memory(low, words, size)) return;
    undead_avoid_words((uintptr_t)words, (uintptr_t)words + size);
  }
}

static void avoid_slabs(uintptr_t task, uintptr_t isa) {
  uintptr_t slab, header[ABI_SLAB_HEADER / sizeof(uintptr_t)];
  if (!undead_copy_memory(task + ABI_TASK_FIRST_SLAB, &slab, sizeof(slab))) return;
  for (int i = 0; i < MOST_SLABS && slab && slab % 8 == 0; i++) {
    if (!undead_copy_memory(slab, header, sizeof(header)) || header[0] != isa) return;
    uint32_t capacity = *(const uint32_t *)((const char *)header + ABI_SLAB_CAPACITY);
    if (capacity > MOST_SLAB_BYTES) return;
    avoid_copied(slab + ABI_SLAB_HEADER, slab + ABI_SLAB_HEADER + capacity);
    slab = header[ABI_SLAB_NEXT / sizeof(uintptr_t)];
  }
}

void undead_scope_avoid_task(void) {
  uintptr_t task = (uintptr_t)current_task();
  if (!task || !&_swift_concurrency_debug_asyncTaskSlabMetadata) return;
  task_list list = {.tasks = {task}, .count = 1};
  for (int i = 0; i < list.count; i++) {
    note_relatives(&list, word_at(task), list.tasks[i]);
    avoid_slabs(list.tasks[i], (uintptr_t)_swift_concurrency_debug_asyncTaskSlabMetadata);
  }
}

void *undead_task_leave_room(void) {
  undead_clear_stack();
  void *room = current_task() ? swift_task_alloc(ROOM_BYTES) : NULL;
  if (!room) return NULL;
  // What our own frames on the way here held is free by now.
  if (__atomic_load_n(&undead_open_scopes, __ATOMIC_ACQUIRE)) undead_scope_avoid_task();
  return memset(room, 0, ROOM_BYTES);
}

void undead_task_take_room(void *room) {
  // The thread goes on with another task while the check is made: what it writes over only in part must hold nothing of this one.
  undead_clear_stack();
  if (room) swift_task_dealloc(room);
}
