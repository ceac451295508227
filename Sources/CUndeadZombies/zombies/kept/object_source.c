// Objects of all kinds come from one place of the runtime: swift_allocObject -> swift_slowAlloc -> malloc or posix_memalign. Calls
// inside the runtime cannot be replaced, so malloc recognises them: by its own return address and that of swift_slowAlloc.
//
//   swift_slowAlloc's frame:   bp[1]      return address into swift_allocObject, or into swift_allocBox, which has it inlined
//                              bp[0]      frame pointer of that
//                              bp[-n]     registers that it saved: the object's metadata is one of them
//
// The addresses and n are learned from objects that the sniffer allocates and frees itself, so nothing depends on how the runtime
// was compiled. In a runtime for which that fails no object gets pages.
#include "zombies/kept/object_source.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "record/block_source.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "zombies/functions/functions.h"
#include "zombies/kept/guard_pages.h"
#include "zombies/shared/threads.h"
#include "zombies/classes/zombie_class.h"
#include <dlfcn.h>
#include <stdlib.h>

// The two ways of swift_slowAlloc: by malloc, and by posix_memalign for larger alignments.
enum { WAYS = 2, MAKERS = 2, LIBRARIES = 2, PROBE_BYTES = 64, MOST_SAVED = 6, FRAME_MOST = 256 };

static struct {
  uintptr_t pc[WAYS];        // return addresses into swift_slowAlloc
  struct {
    uintptr_t pc;            // return address of swift_slowAlloc; 0: not known
    int saved;               // where the metadata is saved, in words below the frame pointer
  } makers[MAKERS];          // swift_allocObject, swift_allocBox
  struct {
    uintptr_t low, high;
  } libraries[LIBRARIES];    // that ask malloc themselves
} known;

// In the library that allocates tasks and the memory of what they run, and in the one that allocates the bytes of Data.
static const char *const in_libraries[LIBRARIES] = {"swift_task_create", "$s20FoundationEssentials4DataVMa"};

// What was seen of the last block that the learning thread asked for.
static const void *learner;
static struct {
  uintptr_t pc, maker, saved[MOST_SAVED];
} seen;

static void *see(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  (void)size, (void)alignment;
  // Who has no frame pointer is no runtime of ours.
  if (learner != &undead_thread || bp - sp > FRAME_MOST) return NULL;
  const uintptr_t *frame = (const uintptr_t *)bp;
  seen.pc = pc;
  seen.maker = frame[1];
  for (int i = 0; i < MOST_SAVED; i++) seen.saved[i] = (uintptr_t)(frame - 1 - i) >= sp ? frame[-1 - i] : 0;
  return NULL;
}

// `object` was just allocated.
static bool learn_maker(int maker, void *object) {
  uintptr_t isa = *(const uintptr_t *)object;
  free(object);
  for (int i = 0; i < MOST_SAVED; i++) {
    if (seen.saved[i] != isa) continue;
    known.makers[maker].saved = i + 1;
    known.makers[maker].pc = seen.maker;
    return true;
  }
  return false;
}

// A false type: the runtime looks at it when the object dies, and this one is freed before.
static bool learn_way(int way, size_t align_mask) {
  static uint64_t false_type[8];
  void *(*allocate)(const void *, size_t, size_t) =
      (void *(*)(const void *, size_t, size_t))undead_swift_real[UNDEAD_SWIFT_ALLOC_OBJECT];
  seen.pc = 0;
  if (!learn_maker(0, allocate(false_type, PROBE_BYTES, align_mask))) return false;
  known.pc[way] = seen.pc;
  return seen.pc != 0;
}

// Boxes are objects as well; without them the others are still guarded.
static void learn_box(void) {
  typedef struct {
    void *object, *value;
  } box;
  const void *number = undead_symbol(RTLD_DEFAULT, "$sSiN");
  box (*allocate)(const void *) = (box (*)(const void *))undead_symbol(RTLD_DEFAULT, "swift_allocBox");
  if (number && allocate) learn_maker(1, allocate(number).object);
}

static void learn_libraries(void) {
  undead_find_object_function find_object = undead_find_object();
  for (int i = 0; find_object && i < LIBRARIES; i++) {
    void *function = undead_symbol(RTLD_DEFAULT, in_libraries[i]);
    undead_found_object found;
    if (!function || find_object(function, &found) != 0) continue;
    known.libraries[i].low = (uintptr_t)found.map_start;
    known.libraries[i].high = (uintptr_t)found.map_end;
  }
}

static bool is_of_library(uintptr_t pc) {
  for (int i = 0; i < LIBRARIES; i++)
    if (pc - known.libraries[i].low < known.libraries[i].high - known.libraries[i].low) return true;
  return false;
}

bool undead_object_source_learn(void) {
  if (known.pc[0] && known.pc[1]) return true;
  learner = &undead_thread;
  undead_block_source_set(see);
  bool learned = learn_way(0, 7) && learn_way(1, 15);
  if (learned) learn_box();
  if (learned) learn_libraries();
  undead_block_source_set(NULL);
  learner = NULL;
  return learned;
}

static void *allocate(uintptr_t isa, size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_zombie_class *class = undead_zombie_class_of(isa);
  if (!class || !class->guard || class->is_storage || (class->is_context && undead_guard_is_half_full())) return NULL;
  uint64_t *object = undead_guard_allocate(size, alignment - 1, undead_backtrace_capture(pc, sp, bp));
  if (!object) return NULL;
  // As it will be in a moment: a scan in between sees a living object.
  object[0] = isa;
  object[1] = ABI_REFCOUNT_NEW;
  return object;
}

undead_block_purpose undead_object_source_purpose(uintptr_t pc, uintptr_t bp, uintptr_t *isa) {
  if (pc != known.pc[0] && pc != known.pc[1])
    return is_of_library(pc) ? UNDEAD_BLOCK_RAW : UNDEAD_BLOCK_OF_OTHERS;
  const uintptr_t *frame = (const uintptr_t *)bp;
  int maker = 0;
  while (maker < MAKERS && frame[1] != known.makers[maker].pc) maker++;
  if (maker == MAKERS) return UNDEAD_BLOCK_RAW;
  *isa = frame[-known.makers[maker].saved];
  return UNDEAD_BLOCK_OBJECT;
}

void *undead_object_source(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  uintptr_t isa;
  if (undead_object_source_purpose(pc, bp, &isa) != UNDEAD_BLOCK_OBJECT || !undead_zombie_enter()) return NULL;
  undead_hook_enter();
  void *object = allocate(isa, size, alignment, pc, sp, bp);
  undead_zombie_leave();
  undead_hook_leave();
  return object;
}
