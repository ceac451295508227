// Stacks of threads that have ended, from glibc's own lists of stacks (nptl/allocatestack.c): those that it keeps for
// new threads, and those of threads that nobody has joined yet.
#include "platform/processor/processor.h"
#include "scan/stacks/stacks.h"
#include "world/given.h"
#include "world/images.h"

#define MOST_STACKS 1000000u

// A node of a ring: next and previous.
static bool is_linked(uintptr_t node) {
  if (node % 8 || !undead_is_readable(node, 16)) return false;
  uintptr_t next = word_at(node), previous = word_at(node + 8);
  return next % 8 == 0 && previous % 8 == 0 && undead_is_readable(next, 16) && undead_is_readable(previous, 16)
    && word_at(next + 8) == node && word_at(previous) == node;
}

static bool is_descriptor(uintptr_t at) {
  return at % 16 == 0 && undead_is_readable(at, undead_image_facts.thread_descriptor_bytes)
    && undead_is_descriptor_head((const uintptr_t *)at);
}

// Of the thread with this pointer, and back.
static uintptr_t node_of_thread(uintptr_t tp) { return tp + undead_image_facts.list_field; }
static uintptr_t thread_of_node(uintptr_t node) { return node - undead_image_facts.list_field; }

static bool is_head(uintptr_t node) {
  return undead_in(undead_image_facts.loader, node) || undead_in(undead_image_facts.libc, node);
}

// The head of the ring that the descriptor is in, 0 if it is in none.
static uintptr_t head_of(uintptr_t tp) {
  uintptr_t node = node_of_thread(tp);
  for (uint32_t count = 0; count < MOST_STACKS && is_linked(node); count++, node = word_at(node))
    if (is_head(node)) return node;
  return 0;
}

static bool has_thread(const undead_world *world, uintptr_t tp) {
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].tp == tp) return true;
  return tp == undead_thread_pointer();
}

// The kernel clears the id when the thread is gone; that of one that is being made is not set yet, and its argument is
// in its descriptor.
static bool has_ended(const undead_world *world, uintptr_t tp) {
  int32_t tid = *(const int32_t *)(node_of_thread(tp) + 16);
  return tid <= 0 && !has_thread(world, tp);
}

static void exclude(undead_root_search *search, uintptr_t tp, bool cached) {
  undead_interval stack = undead_stack_block(tp);
  if (stack.low >= stack.high || !has_ended(search->world, tp)) return;
  undead_intervals_add(&search->excluded, stack.low, stack.high);
  // The thread that joins this one gets the result from there.
  if (!cached) undead_root_add(search, tp, stack.high, UNDEAD_ROOT_THREAD_LOCAL, 0);
}

static void exclude_ring(undead_root_search *search, uintptr_t head, bool cached) {
  uintptr_t node = word_at(head);
  for (uint32_t count = 0; count < MOST_STACKS && node != head && is_linked(node); count++, node = word_at(node)) {
    if (!is_descriptor(node - undead_image_facts.list_field)) return;
    exclude(search, thread_of_node(node), cached);
  }
}

// The ring of stacks that are kept lies beside those of threads that have one from glibc, and from the program.
static uintptr_t find_stack_cache(uintptr_t used, uintptr_t user) {
  for (uintptr_t head = used - 64; head <= used + 64; head += 8) {
    if (head == used || head == user || !is_head(head) || !is_linked(head) || word_at(head) == head) continue;
    uintptr_t first = word_at(head) - undead_image_facts.list_field;
    if (is_descriptor(first)) return head;
  }
  return 0;
}

static void exclude_dead_stacks(undead_root_search *search) {
  if (!undead_image_facts.list_field || !undead_image_facts.stack_field) return;
  uintptr_t made = undead_given() ? undead_given_made_thread(undead_image_facts.list_field) : undead_thread_pointer(), user = 0;
  for (uint32_t i = 0; i < search->world->thread_count; i++) {
    const undead_stopped_thread *thread = &search->world->threads[i];
    if (thread->tid == search->world->process && thread->tp) user = head_of(thread->tp);
  }
  uintptr_t used = made ? head_of(made) : 0;
  if (!used) return;
  // The only thread that glibc made has ended.
  if (undead_given() && has_ended(search->world, made)) {
    exclude_ring(search, used, true);
    return;
  }
  uintptr_t cache = find_stack_cache(used, user);
  if (cache) exclude_ring(search, cache, true);
  exclude_ring(search, used, false);
}

void undead_roots_add_stacks(undead_root_search *search) {
  undead_roots_add_threads(search);
  exclude_dead_stacks(search);
}
