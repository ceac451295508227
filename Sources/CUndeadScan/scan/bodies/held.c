#include "scan/bodies/held.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/sort.h"
#include "platform/processor/words.h"
#include "runtime/abi.h"
#include "world/images.h"
#include "world/intervals.h"

// What is found here says which bodies the walk of references.h may not take by their word, so it comes before that walk: any
// plain word that may be an address counts, whatever a type says of it.

// A thread that changes a collection has it, or what holds it, in the frames next to its stack pointer.
#define NEAR_BYTES 4096u
// Of a block that such a frame refers to: collections are stored properties.
#define FIELDS_BYTES 512u

// Elements that are being removed from an array are behind its count while their deinits run any code, and so are those
// that a sequence adds to a deque while it runs; those of hash tables are covered by the bitmap but for a few instructions.
// An existential's words are written one after the other: its type may be that of the value before.
static bool may_be_changing(const undead_layout *layout, bool running) {
  if (running) return layout->storage || layout->buffer_count;
  return layout->storage == UNDEAD_STORAGE_ARRAY || layout->storage == UNDEAD_STORAGE_RING;
}

void undead_hold(undead_bodies *bodies, uintptr_t block) {
  if (bodies->held && bodies->held_count < UNDEAD_MOST_HELD) bodies->held[bodies->held_count] = block;
  bodies->held_count++;
}

static void add_held_storage(undead_bodies *bodies, uintptr_t word, bool running) {
  uintptr_t block = undead_heap_resolve(bodies->heap, word & UNDEAD_POINTER_MASK);
  if (!block || undead_block_size(block) < ABI_OBJECT_HEADER) return;
  const undead_layout *layout = undead_body_layout(bodies, word_at(block));
  if (layout && may_be_changing(layout, running)) undead_hold(bodies, block);
}

static bool begins_task(undead_bodies *bodies, uintptr_t address, uintptr_t end) {
  if (address % 8 || address + ABI_TASK_FIRST_SLAB + 8 > end) return false;
  const undead_layout *layout = undead_body_layout(bodies, word_at(address));
  return layout && layout->kind == UNDEAD_KIND_TASK;
}

// A task that a thread refers to may be running: its frames are between two instructions, too. One of `async let` lies in a slab
// of another.
static void add_held_task(undead_bodies *bodies, uintptr_t word, uintptr_t except) {
  enum { MOST_SLABS = 64 };
  uintptr_t address = word & UNDEAD_POINTER_MASK, memory = undead_heap_resolve(bodies->heap, address);
  if (!memory || memory == except) return;
  uintptr_t end = memory + undead_block_size(memory), task = begins_task(bodies, address, end) ? address : memory;
  if (task == memory && !begins_task(bodies, memory, end)) return;
  undead_hold(bodies, memory);
  uintptr_t slab = word_at(task + ABI_TASK_FIRST_SLAB);
  for (int i = 0; i < MOST_SLABS && slab; i++, slab = word_at(slab + ABI_SLAB_NEXT)) {
    uintptr_t block = undead_heap_resolve(bodies->heap, slab);
    if (!block || slab % 8 || slab + ABI_SLAB_HEADER > block + undead_block_size(block)) return;
    if (block != memory) undead_hold(bodies, block);
  }
}

static bool is_data_of_image(uintptr_t address) {
  for (uint32_t i = 0; i < undead_image_facts.writable_count; i++)
    if (undead_in(undead_image_facts.writable[i], address)) return true;
  return false;
}

// An address in a frame may be that of a collection's variable, or of an object with collections in it.
static void add_reachable(undead_bodies *bodies, uintptr_t word) {
  uintptr_t address = word & UNDEAD_POINTER_MASK, block = undead_heap_resolve(bodies->heap, address);
  if (!block) {
    if (address % 8 == 0 && is_data_of_image(address)) add_held_storage(bodies, word_at(address), true);
    return;
  }
  size_t size = undead_block_size(block);
  uintptr_t end = block + (size < FIELDS_BYTES ? size : FIELDS_BYTES);
  for (uintptr_t at = block; at + 8 <= end; at += 8) add_held_storage(bodies, word_at(at), true);
  if (address % 8 == 0 && address >= end && address + 8 <= block + size) add_held_storage(bodies, word_at(address), true);
}

// A thread at a system call, or in the check that it asked for, is not between two instructions of the library.
static bool was_running(const undead_world *world, int32_t caller, int32_t tid) {
  if (tid == caller) return false;
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].tid == tid) return !world->threads[i].in_syscall;
  return true;
}

static void add_root(undead_bodies *bodies, const undead_world *world, int32_t caller, uintptr_t waiting, const undead_root *root) {
  bool running = was_running(world, caller, root->tid);
  for (uintptr_t at = root->low; at < root->high; at += 8) {
    add_held_storage(bodies, word_at(at), running);
    add_held_task(bodies, word_at(at), root->tid == caller ? waiting : 0);
    if (running && at - root->low < NEAR_BYTES) add_reachable(bodies, word_at(at));
  }
}

// The task that a thread runs is in its thread-local storage. 0 if that names another one, too.
static uintptr_t only_task_of(undead_bodies *bodies, const undead_roots *roots, int32_t tid) {
  uintptr_t task = 0;
  for (uint32_t i = 0; i < roots->count; i++) {
    const undead_root *root = &roots->roots[i];
    for (uintptr_t at = root->low; root->kind == UNDEAD_ROOT_THREAD_LOCAL && root->tid == tid && at < root->high; at += 8) {
      uintptr_t word = word_at(at), block = undead_heap_resolve(bodies->heap, word);
      if (word == task || !block || !begins_task(bodies, word, block + undead_block_size(block))) continue;
      if (task) return 0;
      task = word;
    }
  }
  return task;
}

void undead_held_sort(undead_bodies *bodies) {
  if (bodies->held && bodies->held_count <= UNDEAD_MOST_HELD) undead_sort_words(bodies->held, bodies->held_count);
}

void undead_held_open(undead_bodies *bodies, const undead_roots *roots, const undead_world *world, int32_t caller) {
  bodies->held_count = 0;
  bodies->held = undead_map(UNDEAD_MOST_HELD * sizeof *bodies->held);
  if (!bodies->held) return;
  uintptr_t waiting = roots->caller_waits_in_task ? only_task_of(bodies, roots, caller) : 0;
  for (uint32_t i = 0; i < roots->count; i++) {
    const undead_root *root = &roots->roots[i];
    if (root->kind == UNDEAD_ROOT_STACK || root->kind == UNDEAD_ROOT_REGISTER) add_root(bodies, world, caller, waiting, root);
    if (root->kind == UNDEAD_ROOT_THREAD_LOCAL)
      for (uintptr_t at = root->low; at < root->high; at += 8) add_held_task(bodies, word_at(at), root->tid == caller ? waiting : 0);
  }
  undead_held_sort(bodies);
}

void undead_held_close(undead_bodies *bodies) {
  if (bodies->held) undead_unmap(bodies->held, UNDEAD_MOST_HELD * sizeof *bodies->held);
  bodies->held = NULL;
}
