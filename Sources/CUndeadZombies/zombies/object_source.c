#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Objects of all kinds come from one place of the runtime: swift_allocObject -> swift_slowAlloc -> malloc or posix_memalign. Calls
// inside the runtime cannot be replaced, so malloc recognises them: by its own return address and that of swift_slowAlloc.
//
//   swift_slowAlloc's frame:   bp[1]      return address into swift_allocObject
//                              bp[0]      frame pointer of that
//                              bp[-n]     registers that it saved: the object's metadata is one of them
//
// The addresses and n are learned from objects of a false type that the sniffer allocates and frees itself, so nothing depends on
// how the runtime was compiled. In a runtime for which that fails no object gets pages.
#include "zombies/object_source.h"
#include "platform/own_data.h"
#include "platform/thread_state.h"
#include "record/block_source.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "zombies/functions.h"
#include "zombies/guard_pages.h"
#include "zombies/threads.h"
#include "zombies/zombie_class.h"
#include <stdlib.h>

// The two ways of swift_slowAlloc: by malloc, and by posix_memalign for larger alignments.
enum { WAYS = 2, PROBE_BYTES = 0x7F0, MOST_SAVED = 6, FRAME_MOST = 256, NEAR = 4096 };

static struct {
  uintptr_t pc[WAYS];     // return addresses into swift_slowAlloc
  uintptr_t maker;        // return address of swift_slowAlloc
  int saved;              // where the metadata is saved, in words from the frame pointer
} known;

static const void *learner;   // the thread that learns
static uintptr_t learned_pc;
static uint64_t false_type[8];

static void *learn(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  (void)alignment;
  if (learner != &undead_thread || size != PROBE_BYTES || bp - sp > FRAME_MOST) return NULL;
  const uintptr_t *frame = (const uintptr_t *)bp;
  uintptr_t real = undead_swift_real[UNDEAD_SWIFT_ALLOC_OBJECT];
  if (frame[1] - real + NEAR > 2 * NEAR || (known.maker && known.maker != frame[1])) return NULL;
  for (int word = -1; word >= -MOST_SAVED && (uintptr_t)(frame + word) >= sp; word--) {
    if (frame[word] != (uintptr_t)false_type || (known.saved && known.saved != word)) continue;
    known.maker = frame[1];
    known.saved = word;
    learned_pc = pc;
    return NULL;
  }
  return NULL;
}

static bool learn_way(int way, size_t align_mask) {
  void *(*allocate)(const void *, size_t, size_t) =
      (void *(*)(const void *, size_t, size_t))undead_swift_real[UNDEAD_SWIFT_ALLOC_OBJECT];
  learned_pc = 0;
  void *object = allocate(false_type, PROBE_BYTES, align_mask);
  free(object);
  known.pc[way] = learned_pc;
  return learned_pc != 0;
}

bool undead_object_source_learn(void) {
  if (known.pc[0] && known.pc[1]) return true;
  learner = &undead_thread;
  undead_block_source_set(learn);
  bool learned = learn_way(0, 7) && learn_way(1, 15);
  undead_block_source_set(NULL);
  learner = NULL;
  return learned;
}

static void *allocate(uintptr_t isa, size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_zombie_class *class = undead_zombie_class_of(isa);
  if (!class || !class->guard || (class->guards_second && undead_guard_is_half_full())) return NULL;
  uint64_t *object = undead_guard_allocate(size, alignment - 1, undead_backtrace_capture(pc, sp, bp));
  if (!object) return NULL;
  // As it will be in a moment: a scan in between sees a living object.
  object[0] = isa;
  object[1] = ABI_REFCOUNT_NEW;
  return object;
}

void *undead_object_source(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  if (pc != known.pc[0] && pc != known.pc[1]) return NULL;
  const uintptr_t *frame = (const uintptr_t *)bp;
  if (frame[1] != known.maker || !undead_zombie_enter()) return NULL;
  undead_hook_enter();
  void *object = allocate(frame[known.saved], size, alignment, pc, sp, bp);
  undead_zombie_leave();
  undead_hook_leave();
  return object;
}
#endif
