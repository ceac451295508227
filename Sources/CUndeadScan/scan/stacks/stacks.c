// The parts of the roots that belong to threads: stacks, thread-local storage, thread descriptors, registers.
#include "scan/stacks/stacks.h"
#include "scan/stacks/contexts.h"
#include "scan/stacks/stale.h"
#include "platform/maps/maps.h"
#include "world/given.h"
#include "world/images.h"
#include "platform/processor/processor.h"

static bool is_caller(const undead_root_search *search, const undead_stopped_thread *thread) {
  return search->options->caller_tid == thread->tid && search->options->caller_sp;
}

// Storage and descriptor of the thread.
static undead_interval storage_of(uintptr_t tp) {
  size_t storage = undead_image_facts.static_tls_bytes, descriptor = undead_image_facts.thread_descriptor_bytes;
  return (undead_interval){tp - storage, tp + descriptor};
}

// The whole block that glibc made or was given for a thread's stack; empty for the first thread.
undead_interval undead_stack_block(uintptr_t tp) {
  size_t field = undead_image_facts.stack_field;
  undead_interval none = {0, 0};
  if (field) {
    uintptr_t at = tp + field;
    if (!undead_is_readable(at, 16)) return none;
    uintptr_t low = word_at(at), size = word_at(at + 8);
    if (!low || tp - low >= size) return none;
    return (undead_interval){low, low + size};
  }
  const undead_mapping *mapping = undead_mapping_of(tp);
  return mapping ? (undead_interval){mapping->low, storage_of(tp).high} : none;
}

// From the stack pointer up, and where a signal interrupted the thread below that: its handler may run on a stack that lies
// in a frame of the thread's own. With a function that ucontext has started on such a stack, anywhere.
static uintptr_t lowest_in_use(undead_interval stack, uintptr_t low) {
  undead_interval above = {low > stack.low ? low : stack.low, stack.high};
  if (undead_has_started_context(above)) return stack.low;
  uintptr_t interrupted = undead_lowest_interrupted(above, stack);
  return interrupted && interrupted - UNDEAD_RED_ZONE < above.low ? interrupted - UNDEAD_RED_ZONE : above.low;
}

typedef struct {
  undead_root_search *search;
  const undead_stopped_thread *thread;
  undead_interval limits;
} stack_pages;

static void add_stack_pages(void *context, const undead_mapping *mapping, undead_interval run) {
  const stack_pages *pages = context;
  uintptr_t low = run.low > pages->limits.low ? run.low : pages->limits.low;
  uintptr_t high = run.high < pages->limits.high ? run.high : pages->limits.high;
  if (mapping->readable) undead_root_add(pages->search, low, high, UNDEAD_ROOT_STACK, pages->thread->tid);
}

// Only the pages that were touched: the rest may be large.
static void add_touched(undead_root_search *search, const undead_stopped_thread *thread, uintptr_t low, uintptr_t high) {
  const undead_mapping *mapping;
  stack_pages pages = {search, thread, {low, high}};
  for (uintptr_t at = low; at < high && (mapping = undead_mapping_of(at)); at = mapping->high) {
    uintptr_t end = mapping->high < high ? mapping->high : high;
    undead_pages_each(&search->pages, mapping, at, end, add_stack_pages, &pages);
  }
}

// Adds what lies above the stack in its block, and returns where the stack ends.
static uintptr_t add_thread_storage(undead_root_search *search, const undead_stopped_thread *thread, undead_interval stack) {
  undead_interval storage = storage_of(thread->tp);
  if (!undead_in(stack, thread->tp)) return stack.high;
  undead_root_add(search, storage.low, storage.high, UNDEAD_ROOT_THREAD_LOCAL, thread->tid);
  return storage.low;
}

// How much of a stack that is not the thread's own is looked at as a stack: who made it is not known, nor how large it is.
#define MOST_OTHER_BYTES (256u << 10)

// The thread runs on a stack that is not its own: a fiber's, or a signal handler's.
static void add_other_stack(undead_root_search *search, const undead_stopped_thread *thread, uintptr_t low) {
  uintptr_t sp = thread->sp, block = undead_heap_resolve(search->heap, sp);
  const undead_mapping *mapping = undead_mapping_of(sp);
  if (!mapping || !mapping->readable) return;
  undead_interval other = {low & ~(uintptr_t)7, block ? block + undead_block_size(block) : mapping->high};
  if (other.high > sp + MOST_OTHER_BYTES) other.high = sp + MOST_OTHER_BYTES;
  if (other.low < mapping->low) other.low = mapping->low;
  undead_root_add(search, other.low, other.high, UNDEAD_ROOT_STACK, thread->tid);
  undead_intervals_add(&search->excluded, other.low, other.high);
}

// `stack`: the thread's regular stack; the stack pointer may be elsewhere. False if the thread is idle, so that neither its
// stack nor its registers are anybody's.
static bool add_stack(undead_root_search *search, const undead_stopped_thread *thread, undead_interval stack) {
  bool caller = is_caller(search, thread);
  uintptr_t sp = caller ? search->options->caller_sp : thread->sp;
  uintptr_t low = caller || thread->in_syscall ? sp : sp - UNDEAD_RED_ZONE;
  uintptr_t top = stack.low < stack.high ? add_thread_storage(search, thread, stack) : 0;
  if (undead_in(stack, sp)) low = lowest_in_use((undead_interval){stack.low, top}, low);
  if (undead_in(stack, sp) && low > stack.low) {
    if (!caller && undead_stale_is_idle(search->stale, thread, low & ~(uintptr_t)7, top)) return false;
    undead_root_add(search, low & ~(uintptr_t)7, top, UNDEAD_ROOT_STACK, thread->tid);
    return true;
  }
  if (!undead_in(stack, sp)) add_other_stack(search, thread, low);
  // Where it left its own stack is not known: all of it counts.
  if (stack.low < top) add_touched(search, thread, stack.low, top);
  return true;
}

static void add_registers(undead_root_search *search, const undead_stopped_thread *thread) {
  const uintptr_t *general = thread->general;
  uint32_t count = UNDEAD_GENERAL_REGISTERS;
  if (is_caller(search, thread)) {
    general = search->options->caller_registers;
    count = sizeof search->options->caller_registers / sizeof *general;
  } else {
    const uintptr_t *vectors = search->world->vectors + thread->first_vector;
    undead_root_add(search, (uintptr_t)vectors, (uintptr_t)(vectors + thread->vector_count), UNDEAD_ROOT_REGISTER,
                    thread->tid);
  }
  undead_root_add(search, (uintptr_t)general, (uintptr_t)(general + count), UNDEAD_ROOT_REGISTER, thread->tid);
  // Memory that is a stack, or that a segment begins with, is in use.
  undead_root_add(search, (uintptr_t)&thread->sp, (uintptr_t)(&thread->tp + 1), UNDEAD_ROOT_REGISTER, thread->tid);
}

// The first thread's stack is the kernel's, and its thread-local storage is the loader's.
static undead_interval first_stack(void) {
  extern void *__libc_stack_end;
  const undead_mapping *mapping = undead_mapping_of((uintptr_t)__libc_stack_end);
  undead_interval none = {0, 0};
  return mapping ? (undead_interval){mapping->low, mapping->high} : none;
}

static void add_thread(undead_root_search *search, const undead_stopped_thread *thread) {
  undead_interval stack = thread->tp ? undead_stack_block(thread->tp) : (undead_interval){0, 0};
  if (thread->tid == search->world->process || stack.low == stack.high) {
    uintptr_t low = storage_of(thread->tp).low, high = storage_of(thread->tp).high;
    const undead_mapping *mapping = thread->tp ? undead_mapping_of(thread->tp) : NULL;
    if (mapping) {
      low = low > mapping->low ? low : mapping->low;
      high = high < mapping->high ? high : mapping->high;
      undead_root_add(search, low, high, UNDEAD_ROOT_THREAD_LOCAL, thread->tid);
      undead_intervals_add(&search->excluded, low, high);
    }
    if (thread->tid == search->world->process) stack = first_stack();
  }
  bool busy = add_stack(search, thread, stack);
  undead_intervals_add(&search->excluded, stack.low, stack.high);
  if (busy) add_registers(search, thread);
}

void undead_roots_add_threads(undead_root_search *search) {
  for (uint32_t i = 0; i < search->world->thread_count; i++)
    if (search->world->threads[i].phase == UNDEAD_THREAD_STOPPED) add_thread(search, &search->world->threads[i]);
  if (undead_given()) return;
  // The scanner's own stack and thread-local storage: never roots.
  undead_interval own = undead_stack_block(undead_thread_pointer());
  undead_intervals_add(&search->excluded, own.low, own.high);
}
