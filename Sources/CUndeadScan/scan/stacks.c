// The parts of the roots that belong to threads: stacks, thread-local storage, thread descriptors, registers.
#include "scan/roots_internal.h"
#include "platform/maps.h"
#include "world/images.h"
#include "platform/raw_x86_64.h"

// A leaf function may use this much below its stack pointer (System V ABI, 3.2.2).
#define RED_ZONE 128

static uintptr_t word_at(uintptr_t address) { return *(const uintptr_t *)address; }

static bool is_caller(const undead_root_search *search, const undead_stopped_thread *thread) {
  return search->options->caller_tid == thread->tid && search->options->caller_sp;
}

// The whole block that glibc made or was given for a thread's stack; empty for the first thread.
undead_interval undead_stack_block(uintptr_t tp) {
  size_t field = undead_image_facts.stack_field;
  undead_interval none = {0, 0};
  if (field) {
    uintptr_t low = word_at(tp + field), size = word_at(tp + field + 8);
    if (!low || tp - low >= size) return none;
    return (undead_interval){low, low + size};
  }
  const undead_mapping *mapping = undead_mapping_of(tp);
  return mapping ? (undead_interval){mapping->low, tp + undead_image_facts.thread_descriptor_bytes} : none;
}

static void add_own_stack(undead_root_search *search, const undead_stopped_thread *thread, undead_interval stack,
                          uintptr_t low) {
  uintptr_t tp = thread->tp, top = stack.high;
  uintptr_t storage = tp - undead_image_facts.static_tls_bytes;
  if (undead_in(stack, tp)) {
    top = storage;
    undead_root_add(search, storage, tp + undead_image_facts.thread_descriptor_bytes, UNDEAD_ROOT_THREAD_LOCAL, thread->tid);
  }
  low = low > stack.low ? low : stack.low;
  low = undead_stale_stack_low(search->stale, thread, low & ~(uintptr_t)7, top);
  undead_root_add(search, low, top, UNDEAD_ROOT_STACK, thread->tid);
}

// `stack`: the thread's regular stack; the stack pointer may be elsewhere.
static void add_stack(undead_root_search *search, const undead_stopped_thread *thread, undead_interval stack) {
  bool caller = is_caller(search, thread);
  uintptr_t sp = caller ? search->options->caller_sp : thread->sp;
  uintptr_t low = caller || thread->in_syscall ? sp : sp - RED_ZONE;
  if (undead_in(stack, sp)) {
    add_own_stack(search, thread, stack, low);
    return;
  }
  uintptr_t block = undead_heap_resolve(search->heap, sp);
  const undead_mapping *mapping = undead_mapping_of(sp);
  undead_interval other = {low & ~(uintptr_t)7, mapping ? mapping->high : sp};
  if (block) other.high = block + undead_block_size(block);
  if (mapping && other.low < mapping->low) other.low = mapping->low;
  undead_root_add(search, other.low, other.high, UNDEAD_ROOT_STACK, thread->tid);
  undead_intervals_add(&search->excluded, other.low, other.high);
  const undead_mapping *own = undead_mapping_of(stack.high - 1);
  if (own && stack.low < stack.high) {
    undead_interval readable = {stack.low > own->low ? stack.low : own->low, stack.high};
    // Where it left its own stack is not known: all of it counts.
    add_own_stack(search, thread, readable, readable.low);
  }
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
    uintptr_t low = thread->tp - undead_image_facts.static_tls_bytes;
    uintptr_t high = thread->tp + undead_image_facts.thread_descriptor_bytes;
    const undead_mapping *mapping = thread->tp ? undead_mapping_of(thread->tp) : NULL;
    if (mapping) {
      low = low > mapping->low ? low : mapping->low;
      high = high < mapping->high ? high : mapping->high;
      undead_root_add(search, low, high, UNDEAD_ROOT_THREAD_LOCAL, thread->tid);
      undead_intervals_add(&search->excluded, low, high);
    }
    if (thread->tid == search->world->process) stack = first_stack();
  }
  add_stack(search, thread, stack);
  undead_intervals_add(&search->excluded, stack.low, stack.high);
  add_registers(search, thread);
}

void undead_roots_add_threads(undead_root_search *search) {
  for (uint32_t i = 0; i < search->world->thread_count; i++)
    if (search->world->threads[i].phase == UNDEAD_THREAD_STOPPED) add_thread(search, &search->world->threads[i]);
  // The scanner's own stack and thread-local storage: never roots.
  undead_interval own = undead_stack_block(undead_thread_pointer());
  undead_intervals_add(&search->excluded, own.low, own.high);
}
