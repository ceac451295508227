// The runtime frees an object: it goes to the quarantine instead.
#include "record/block_source.h"
#include "record/claims.h"
#include "record/gate.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "zombies/kept/death.h"
#include "zombies/functions/functions.h"
#include "zombies/kept/guard_pages.h"
#include "zombies/kept/quarantine.h"
#include "zombies/shared/state.h"
#include "zombies/shared/threads.h"
#include "zombies/classes/zombie_class.h"
#include <stddef.h>

#define HIDDEN __attribute__((visibility("hidden"), noinline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// The frame of a function that was jumped to in place of the runtime's.
typedef struct {
  uintptr_t saved_frame_pointer, return_address;
} entry_frame;

// Objects on the stack are freed by the same functions, which see by a second unowned reference that there is nothing
// to free. What the allocator handed out is known; of the rest only what nobody else refers to is surely on the heap.
static inline __attribute__((always_inline)) bool is_on_heap(uint32_t word, uint64_t refcount) {
  if (word) return true;
  bool inlined = refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == 0;
  return inlined && (refcount >> ABI_REFCOUNT_UNOWNED_SHIFT & ABI_REFCOUNT_UNOWNED_MASK) == 1;
}

// False if the runtime gets the call as it is, even if it then complains.
static inline __attribute__((always_inline)) bool is_dead(uint64_t refcount) {
  if (refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT == ABI_REFCOUNT_SIDE_TABLE_TOP) return true;
  return refcount >> 63 == 0 && refcount & ABI_REFCOUNT_DEINITING &&
         (refcount >> ABI_REFCOUNT_EXTRA_SHIFT & ABI_REFCOUNT_EXTRA_MASK) == 0;
}

// Takes the block out of the registry: a scan neither reports it nor looks into it. Returns what stood there.
static inline __attribute__((always_inline)) uint32_t unregister(uint32_t *slot) {
  uint32_t word = slot ? *slot : 0;
  if (word) __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
  return word;
}

// The side table goes with its object. Weak references may still lead to it, and it leads nowhere.
static void unregister_side_table(uint64_t refcount) {
  if (refcount >> ABI_REFCOUNT_SIDE_TABLE_SHIFT != ABI_REFCOUNT_SIDE_TABLE_TOP) return;
  unregister(undead_registry_slot(refcount << ABI_REFCOUNT_SIDE_TABLE_SCALE));
}

// Gives the dead object to the quarantine: it has no other owner from now on. False if it is not kept, and as it was before.
static inline __attribute__((always_inline)) bool keep_dead(undead_dead *dead, uint32_t *slot, undead_evicted *evicted) {
  bool guarded = undead_guard_holds(dead->object);
  uint32_t look = undead_zombies.policy == UNDEAD_ZOMBIE_TRAP ? UNDEAD_DEAD_IS_SCRIBBLED : 0;
  dead->flags |= guarded ? UNDEAD_DEAD_IS_GUARDED : look;
  dead->thread = undead_thread_place();
  uint64_t refcount = ((const uint64_t *)dead->object)[1];
  uint32_t word = unregister(slot);
  dead->allocation = word & UNDEAD_WORD_BACKTRACE;
  // Before others may free it for good.
  if (guarded) undead_guard_close(dead->object);
  unregister_side_table(refcount);
  if (LIKELY(undead_quarantine_add(dead, evicted))) return true;
  if (guarded) undead_guard_open(dead->object);
  if (word) __atomic_store_n(slot, word, __ATOMIC_RELEASE);
  return false;
}

static bool bury_object(uintptr_t object, size_t size, size_t align_mask, const entry_frame *frame,
                 undead_evicted *evicted) {
  const uint64_t *header = (const uint64_t *)object;
  undead_zombie_class *class = undead_zombie_class_of(header[0]);
  if (!class || !class->keep) {
    if (class) undead_count(&undead_zombie_counts.denied);
    return false;
  }
  uint32_t *slot = undead_registry_slot(object);
  if (!is_dead(header[1]) || !is_on_heap(slot ? *slot : 0, header[1])) return false;
  undead_dead dead = {.object = object, .class = class, .size = size, .align_mask = (uint32_t)align_mask};
  dead.deallocation =
      undead_backtrace_capture(frame->return_address, (uintptr_t)(frame + 1), frame->saved_frame_pointer);
  undead_claim_died(object, dead.deallocation);
  return keep_dead(&dead, slot, evicted);
}

// True if the hook of this frame interrupted no other one.
static inline bool is_outermost(uintptr_t frame) { return undead_thread.in_hook == frame; }

static inline __attribute__((always_inline)) void died(undead_swift_function function, uintptr_t object, size_t size,
                                                       size_t align_mask, const entry_frame *frame) {
  undead_evicted evicted;
  evicted.count = 0;
  evicted.more = false;
  bool kept = false;
  // In a signal handler that interrupted this very function, objects go at once. So do immediates and null.
  // What has a page of its own dies with it, in free().
  if (LIKELY((intptr_t)object > 0) && !undead_block_is_chosen((const void *)object) && LIKELY(undead_zombie_enter())) {
    undead_hook_enter();
    evicted.outermost = is_outermost((uintptr_t)__builtin_frame_address(0));
    kept = bury_object(object, size, align_mask, frame, &evicted);
    undead_zombie_leave();
    undead_hook_leave();
    // Outside of the hook, as the runtime calls free().
    undead_quarantine_free(&evicted);
  }
  if (!kept) UNDEAD_CALL_REAL_DEALLOC(function, (void *)object, size, align_mask);
}

// How a dead object looks when the runtime frees its memory: no reference of any kind, or the last unowned one gone.
#define FREED ABI_REFCOUNT_DEAD
#define FREED_BY_UNOWNED (ABI_REFCOUNT_DEAD - (1ull << ABI_REFCOUNT_UNOWNED_SHIFT))

bool undead_zombie_filter_kept(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  (void)pc, (void)sp, (void)bp;
  return undead_guard_holds((uintptr_t)block);
}

static bool bury_freed(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  const uint64_t *header = block;
  uint32_t *slot = undead_registry_slot((uintptr_t)block);
  if (!slot || !*slot || !undead_zombie_enter()) return false;
  undead_hook_enter();
  undead_evicted evicted = {.outermost = is_outermost((uintptr_t)__builtin_frame_address(0))};
  undead_zombie_class *class = undead_zombie_class_of(header[0]);
  bool kept = false;
  // On guard pages there is nothing but objects.
  if (class && class->keep && (undead_guard_holds((uintptr_t)block) || !class->is_context)) {
    undead_dead dead = {
        .object = (uintptr_t)block,
        .class = class,
        .size = undead_block_size((uintptr_t)block),
        .deallocation = undead_backtrace_capture(pc, sp, bp),
        .flags = UNDEAD_DEAD_IS_FREED,
    };
    kept = keep_dead(&dead, slot, &evicted);
  }
  undead_zombie_leave();
  undead_hook_leave();
  undead_quarantine_free(&evicted);
  return kept;
}

bool undead_zombie_filter_guarded(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  if (!undead_guard_holds((uintptr_t)block)) return false;
  bool died = undead_zombies.active && ((const uint64_t *)block)[1] == FREED;
  if (died && bury_freed(block, pc, sp, bp)) return true;
  undead_hook_enter();
  undead_guard_free((uintptr_t)block);
  undead_hook_leave();
  return true;
}

bool undead_zombie_filter_all(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  const uint64_t *header = block;
  if (undead_zombie_filter_guarded(block, pc, sp, bp)) return true;
  bool is_dead_object = header[1] == FREED || header[1] == FREED_BY_UNOWNED;
  return UNLIKELY(is_dead_object) && bury_freed(block, pc, sp, bp);
}

// Storage of arrays and hash tables dies inside of the runtime, whose calls of its own functions cannot be replaced.
// What they were called for is in the quarantine, or was refused; then it is refused again.
bool undead_zombie_filter_unseen(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  const uint64_t *header = block;
  if (undead_block_is_chosen(block)) return false;
  if (undead_guard_bytes && undead_zombie_filter_guarded(block, pc, sp, bp)) return true;
  return UNLIKELY(header[1] == FREED) && bury_freed(block, pc, sp, bp);
}

// Stand in for swift_deallocClassInstance (behind catch/escape.c) and swift_deallocObject.
void undead_class_instance_died(uintptr_t object, size_t size, size_t align_mask) {
  died(UNDEAD_SWIFT_DEALLOC_CLASS_INSTANCE, object, size, align_mask, __builtin_frame_address(0));
}

HIDDEN void undead_object_died(uintptr_t object, size_t size, size_t align_mask);
void undead_object_died(uintptr_t object, size_t size, size_t align_mask) {
  died(UNDEAD_SWIFT_DEALLOC_OBJECT, object, size, align_mask, __builtin_frame_address(0));
}
