#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// A deinit that lets its object out, and a thread that reads a reference while the last one is released: when the runtime is to free
// the object, there are references again. It ends the program for that, unless they go meanwhile.
#include "platform/processor/words.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "zombies/classes/zombie_class.h"
#include "zombies/functions/functions.h"
#include "zombies/kept/death.h"
#include "zombies/reports/waiting.h"

#if defined(__x86_64__)
static bool is_held(uintptr_t object) {
  uint64_t counts = word_at(object + ABI_OBJECT_REFCOUNT);
  if (counts >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == ABI_REFCOUNT_SIDE_TABLE_TOP)
    counts = word_at((counts << ABI_REFCOUNT_SIDE_TABLE_SCALE) + ABI_SIDE_TABLE_COUNTS);
  return counts & ABI_REFCOUNT_DEINITING && counts >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK;
}

static __attribute__((noinline)) void report(uintptr_t object, undead_frame caller) {
  undead_zombie_class *class = undead_zombie_class_of(word_at(object));
  const uint32_t *slot = undead_registry_slot(object);
  if (!class || !class->keep) return;
  undead_dead dead = {
      .object = object,
      .class = class,
      .allocation = slot && *slot ? *slot & UNDEAD_WORD_BACKTRACE : UNDEAD_BACKTRACE_NONE,
      .deallocation = UNDEAD_BACKTRACE_NONE,
  };
  undead_zombie_use use = {
      .kind = UNDEAD_ZOMBIE_ESCAPE,
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

// In place of swift_deallocClassInstance.
__attribute__((visibility("hidden"))) void undead_class_instance_ends(uintptr_t object, size_t size, size_t align_mask);
void undead_class_instance_ends(uintptr_t object, size_t size, size_t align_mask) {
  const uintptr_t *frame = __builtin_frame_address(0);
  if (__builtin_expect((intptr_t)object > 0 && is_held(object), 0)) {
    report(object, (undead_frame){frame[1], (uintptr_t)(frame + 2), frame[0]});
    UNDEAD_CALL_REAL_DEALLOC(UNDEAD_SWIFT_DEALLOC_CLASS_INSTANCE, (void *)object, size, align_mask);
    return;
  }
  __attribute__((musttail)) return undead_class_instance_died(object, size, align_mask);
}
#endif
#endif
