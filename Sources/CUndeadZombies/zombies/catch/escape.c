// A deinit that lets its object out, and a thread that reads a reference while the last one is released: when the runtime is to
// free the object, there are references again. It ends the program for that, unless they go meanwhile.
#include "zombies/catch/escape.h"
#include "platform/memory/own_data.h"
#include "platform/processor/words.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "zombies/classes/zombie_class.h"
#include "zombies/kept/chosen.h"
#include "zombies/kept/death.h"
#include "zombies/kept/pool.h"
#include "zombies/reports/waiting.h"
#include "zombies/shared/state.h"

static inline __attribute__((always_inline)) bool is_held(uintptr_t object) {
  uint64_t counts = word_at(object + ABI_OBJECT_REFCOUNT);
  if (counts >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == ABI_REFCOUNT_SIDE_TABLE_TOP)
    counts = word_at((counts << ABI_REFCOUNT_SIDE_TABLE_SCALE) + ABI_SIDE_TABLE_COUNTS);
  return counts & ABI_REFCOUNT_DEINITING && counts >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK;
}

static uint32_t allocation_of(uintptr_t object) {
  undead_fenced_slot chosen;
  if (undead_fenced_find(object, &chosen)) return undead_chosen_keep(&chosen.allocation);
  const uint32_t *slot = undead_registry_slot(object);
  return slot && *slot ? *slot & UNDEAD_WORD_BACKTRACE : UNDEAD_BACKTRACE_NONE;
}

static __attribute__((noinline)) void report(uintptr_t object, undead_frame caller) {
  undead_zombie_class *class = undead_zombies.active ? undead_zombie_class_of(word_at(object)) : NULL;
  if (!class || !class->keep) return;
  undead_dead dead = {
      .object = object, .class = class, .allocation = allocation_of(object), .deallocation = UNDEAD_BACKTRACE_NONE};
  undead_zombie_use use = {
      .kind = UNDEAD_ZOMBIE_ESCAPE,
      .flags = undead_zombies.sample ? UNDEAD_ZOMBIE_IS_SAMPLED : 0,
      .field_offset = UNDEAD_ZOMBIE_NO_FIELD,
      .object = object,
      .class = class,
      .pc = caller.pc,
      .sp = caller.sp,
      .bp = caller.bp,
      .dead = &dead,
  };
  undead_zombie_used(&use, false);
}

typedef void (*dealloc)(uintptr_t object, size_t size, size_t align_mask);
#define RUNTIMES_OWN ((dealloc)undead_swift_real[UNDEAD_SWIFT_DEALLOC_CLASS_INSTANCE])

// Almost all objects die with the counts of one that was never referred to but strongly.
static inline __attribute__((always_inline)) bool is_plain(uintptr_t object) {
  return __builtin_expect(word_at(object + ABI_OBJECT_REFCOUNT) == ABI_REFCOUNT_DEAD, 1);
}

static __attribute__((noinline)) void end(uintptr_t object, size_t size, size_t align_mask) {
  const uintptr_t *frame = __builtin_frame_address(0);
  bool escapes = (intptr_t)object > 0 && is_held(object);
  if (escapes) report(object, (undead_frame){frame[1], (uintptr_t)(frame + 2), frame[0]});
  if (escapes || undead_zombies.sample) RUNTIMES_OWN(object, size, align_mask);
  else __attribute__((musttail)) return undead_class_instance_died(object, size, align_mask);
}

// In place of swift_deallocClassInstance, which is given nothing but objects; of a sample with the runtime's own behind it.
__attribute__((visibility("hidden"))) void undead_class_instance_ends(uintptr_t object, size_t size, size_t align_mask);
void undead_class_instance_ends(uintptr_t object, size_t size, size_t align_mask) {
  if (is_plain(object)) __attribute__((musttail)) return undead_class_instance_died(object, size, align_mask);
  __attribute__((musttail)) return end(object, size, align_mask);
}

static void sampled_instance_ends(uintptr_t object, size_t size, size_t align_mask) {
  if (is_plain(object)) __attribute__((musttail)) return RUNTIMES_OWN(object, size, align_mask);
  __attribute__((musttail)) return end(object, size, align_mask);
}

static const uintptr_t nothing[UNDEAD_SWIFT_FUNCTION_COUNT];
static const uintptr_t ends[UNDEAD_SWIFT_FUNCTION_COUNT] = {
  [UNDEAD_SWIFT_DEALLOC_CLASS_INSTANCE] = (uintptr_t)sampled_instance_ends};
const undead_watching_functions undead_watching_escapes = {ends, nothing, NULL};
