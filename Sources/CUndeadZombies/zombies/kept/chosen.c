// Blocks are chosen at random, or as storage, and for a while also by the place of a use that was found: then malloc asks here for
// each block (record/block_source.h), which is dear, so it ends when the time or the number of blocks is over.
#include "zombies/kept/chosen.h"
#include "glibc/layout.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "record/allocator.h"
#include "record/block_source.h"
#include "record/gate.h"
#include "runtime/abi.h"
#include "unwind/backtrace.h"
#include "zombies/classes/metadata.h"
#include "zombies/classes/type_lists.h"
#include "zombies/classes/zombie_class.h"
#include "zombies/kept/object_source.h"
#include "zombies/shared/state.h"
#include "zombies/shared/threads.h"
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// A page costs about 6 us, most of it in the kernel, and to ask what a block is for a LOOKS_FOR_A_PAGE-th of that. Of more blocks
// in a second than these, fewer are chosen, which holds the default rate below half a percent of a processor, and storage below
// ten. A SAVED_PART-th of a second's share may be saved for when it is needed.
enum { BLOCKS_A_SECOND = 500000, STORAGE_A_SECOND = 10000, LOOKS_FOR_A_PAGE = 64, SELDOM = 64, SAVED_PART = 4 };
enum { WATCHED = 8, WATCHED_SECONDS = 60, WATCHED_BLOCKS = 1 << 16, CALLS_TO_A_LOOK = 4096 };
#define SECOND 1000000000ll   // nanoseconds
// Where the place shows in a backtrace: behind the runtime's functions.
enum { FRAME_OF_RAW = 1, FRAME_OF_OBJECT = 2 };
// What a block is to be, and the registers of who asked for it.
typedef struct {
  size_t size, alignment;
  uintptr_t isa, pc, sp, bp;
} wanted_block;
// How a dead object looks when the runtime frees its memory (kept/death.c).
#define FREED ABI_REFCOUNT_DEAD

static uint32_t one_in;
static bool by_name, only_storage;

// A place where all blocks come to the pool.
static struct watched_place {
  int64_t until;             // seconds; 0: free
  uintptr_t isa;             // 0: raw memory
  uint32_t pc;               // index of the return address
  int32_t blocks;            // that may still come
} watched[WATCHED];
static uint32_t calls;

extern void *swift_task_getCurrent(void) __attribute__((swiftcall, weak));
typedef struct {
  const void *identity, *implementation;
} executor;
extern executor swift_task_getCurrentExecutor(void) __attribute__((swiftcall, weak));

undead_fenced_actor undead_chosen_actor(void) {
  return (undead_fenced_actor){
      .thread = (int32_t)syscall(SYS_gettid),
      .place = undead_thread_place(),
      .task = swift_task_getCurrent ? swift_task_getCurrent() : NULL,
      .executor = swift_task_getCurrentExecutor ? swift_task_getCurrentExecutor().identity : NULL,
  };
}

static void copy_frames(void *context, const uint32_t *indices, uint32_t count) {
  undead_fenced_frames *frames = context;
  frames->count = count < UNDEAD_FENCED_FRAMES ? count : UNDEAD_FENCED_FRAMES;
  for (uint32_t i = 0; i < frames->count; i++) frames->indices[i] = indices[i];
}

uint32_t undead_chosen_keep(const undead_fenced_frames *frames) {
  return frames->count ? undead_backtrace_keep(frames->indices, frames->count) : UNDEAD_BACKTRACE_NONE;
}

static int64_t nanoseconds(void) { return (int64_t)undead_nanoseconds(CLOCK_MONOTONIC_COARSE); }
static int64_t seconds(void) { return nanoseconds() / SECOND + 1; }   // never 0

static uint32_t place_of(const undead_fenced_frames *frames, uintptr_t isa) {
  uint32_t frame = isa ? FRAME_OF_OBJECT : FRAME_OF_RAW;
  return frame < frames->count ? frames->indices[frame] : 0;
}

// MARK: By place and by name

static struct watched_place *watched_at(uintptr_t isa) {
  for (int i = 0; i < WATCHED; i++)
    if (watched[i].until && watched[i].isa == isa) return &watched[i];
  return NULL;
}

static bool is_named(uintptr_t isa) {
  const undead_zombie_class *class = by_name && isa ? undead_zombie_class_of(isa) : NULL;
  return class && class->guard;
}

static int64_t paid_until;   // nanoseconds: by then all that was spent is earned

static int64_t pages_a_second(void) { return only_storage ? STORAGE_A_SECOND : BLOCKS_A_SECOND / one_in + 1; }

static bool is_in_debt(int64_t time) { return __atomic_load_n(&paid_until, __ATOMIC_RELAXED) > time; }

// False if more was spent than is earned in the course of time.
static bool spend(int64_t looks) {
  int64_t time = nanoseconds(), before = __atomic_load_n(&paid_until, __ATOMIC_RELAXED);
  int64_t earliest = time - (only_storage ? SECOND : SECOND / SAVED_PART);
  if (before > time) return false;
  if (before < earliest) __atomic_compare_exchange_n(&paid_until, &before, earliest, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  __atomic_fetch_add(&paid_until, SECOND / (pages_a_second() * LOOKS_FOR_A_PAGE) * looks, __ATOMIC_RELAXED);
  return true;
}

static bool is_sampled_type(uintptr_t isa) {
  const undead_zombie_class *class = isa ? undead_zombie_class_of(isa) : NULL;
  if (!isa) return undead_type_list_is_empty(UNDEAD_LIST_ALLOW);
  return class ? class->keep && (class->is_storage || !only_storage) : !only_storage || undead_metadata_is_error(isa);
}

typedef enum { AT_RANDOM, AT_PLACE } reason;

// Without it all later blocks of its size would come one place earlier in glibc's lists, and what a program allocates and frees in
// the same order would no longer lie side by side: one of 1000 made a program with trees 8 % slower.
static void *make_twin(const wanted_block *wanted) {
  enum { MOST = 1032, ALIGNMENT = 16 };   // bytes in those lists (record/hooks/new_block.h)
  if (only_storage || wanted->size > MOST || wanted->alignment > ALIGNMENT) return NULL;
  void *twin = undead_allocator_take(wanted->size);
  // Memory that nobody knows is a root, and it may hold what was there before.
  return twin ? memset(twin, 0, undead_chunk_usable(wanted->size)) : NULL;
}

static void *allocate_chosen(const wanted_block *wanted, reason why) {
  uintptr_t isa = wanted->isa;
  if (!is_sampled_type(isa)) return spend(1), NULL;
  if (why == AT_RANDOM && !spend(LOOKS_FOR_A_PAGE)) {
    if (only_storage) undead_fenced_refuse();
    else undead_count(&undead_zombie_counts.missed);
    return NULL;
  }
  undead_fenced_frames frames;
  frames.count = 0;
  undead_backtrace_walk(wanted->pc, wanted->sp, wanted->bp, copy_frames, &frames);
  if (why == AT_PLACE && !is_named(isa)) {
    struct watched_place *place = watched_at(isa);
    if (!place || place->pc != place_of(&frames, isa) || __atomic_fetch_sub(&place->blocks, 1, __ATOMIC_RELAXED) <= 0) return NULL;
  }
  void *twin = why == AT_RANDOM ? make_twin(wanted) : NULL;
  void *block = undead_fenced_allocate(wanted->size, wanted->alignment, isa, &frames, twin);
  if (!block && twin) undead_allocator_free(twin);
  return block;
}

static void *allocate_in_hook(const wanted_block *wanted, reason why) {
  if (!undead_zombie_enter()) return NULL;
  undead_hook_enter();
  void *block = allocate_chosen(wanted, why);
  undead_zombie_leave();
  undead_hook_leave();
  return block;
}

static void look_at_clock(void) {
  int64_t time = seconds();
  bool any = by_name;
  for (int i = 0; i < WATCHED; i++) {
    if (watched[i].until && (watched[i].until < time || watched[i].blocks <= 0))
      __atomic_store_n(&watched[i].until, 0, __ATOMIC_RELEASE);
    any = any || watched[i].until;
  }
  if (!any) undead_block_source_set(NULL);
}

static void *take_watched(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  wanted_block wanted = {size, alignment, 0, pc, sp, bp};
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % CALLS_TO_A_LOOK == 0) look_at_clock();
  if (undead_object_source_purpose(pc, bp, &wanted.isa) == UNDEAD_BLOCK_OF_OTHERS) return NULL;
  return watched_at(wanted.isa) || (by_name && wanted.isa) ? allocate_in_hook(&wanted, AT_PLACE) : NULL;
}

void undead_chosen_watch(const undead_fenced_slot *slot) {
  struct watched_place *room = NULL;
  int64_t until = seconds() + WATCHED_SECONDS;
  uint32_t pc = place_of(&slot->allocation, slot->isa);
  for (int i = 0; i < WATCHED && pc; i++) {
    if (watched[i].until && watched[i].isa == slot->isa && watched[i].pc == pc) return;
    if (!watched[i].until && !room) room = &watched[i];
  }
  if (!room || !pc || !undead_zombies.active || only_storage) return;
  room->isa = slot->isa;
  room->pc = pc;
  room->blocks = WATCHED_BLOCKS;
  __atomic_store_n(&room->until, until, __ATOMIC_RELEASE);
  undead_block_source_set(take_watched);
}

// MARK: At random

// Of storage the fewer the less room there is for what lives long.
static uint32_t rate(void) {
  if (!only_storage) return one_in;
  uint32_t quarters = undead_fenced_quarters();
  uint32_t rate = quarters < 2 ? 1 : SELDOM << (quarters - 2) * 2;
  return rate < SELDOM && is_in_debt(nanoseconds()) ? SELDOM : rate;
}

static void *take_chosen(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  wanted_block wanted = {size, alignment, 0, pc, sp, bp};
  if (undead_object_source_purpose(pc, bp, &wanted.isa) == UNDEAD_BLOCK_OF_OTHERS) return spend(1), NULL;
  return allocate_in_hook(&wanted, AT_RANDOM);
}

static void *choose(size_t size, size_t alignment, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_thread_state *thread = &undead_thread;
  bool begins = !thread->choice_seed;
  if (begins) undead_thread_let_faults_in();
  int64_t gap = undead_block_choice_draw(rate());
  // A thread begins with a gap, which this block is the first of.
  if (begins && gap) {
    thread->choice_left = gap - 1;
    return NULL;
  }
  if (begins) gap = undead_block_choice_draw(rate());
  // What is allocated meanwhile, to name a type, is not counted.
  thread->choice_left = INT64_MAX;
  void *block = take_chosen(size, alignment, pc, sp, bp);
  thread->choice_left = gap;
  return block;
}

// MARK: Deaths

// Of what was not known as an object when it was made, the counts tell it: the runtime makes some in ways of its own.
static uintptr_t isa_of(uintptr_t block) {
  const uint64_t *header = (const uint64_t *)block;
  if (header[1] != FREED) return 0;
  const undead_zombie_class *class = undead_zombie_class_of(header[0]);
  return class ? header[0] : 0;
}

// What is in the box that ends there, if it is one.
static const undead_zombie_class *error_in(uintptr_t block) {
  const uintptr_t *words = (const uintptr_t *)block;
  undead_fenced_slot slot;
  bool is_object = undead_fenced_find(block, &slot) && slot.isa && slot.isa == words[0];
  // Most have a class that is known, which is found fast.
  if (!is_object || undead_zombie_class_of(slot.isa) || !undead_metadata_is_error(slot.isa)) return NULL;
  return undead_zombie_class_of_error(words[ABI_ERROR_TYPE / sizeof *words]);
}

static void *bury_chosen(uintptr_t block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_fenced_death death = {.isa = isa_of(block), .error = error_in(block), .killer = undead_chosen_actor()};
  undead_backtrace_walk(pc, sp, bp, copy_frames, &death.frames);
  return undead_fenced_bury(block, &death);
}

static void *take_back(void *block, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  // Freed again: a use like others, which the handler of the fault reports.
  if (!undead_fenced_is_open((uintptr_t)block)) (void)*(volatile const char *)block;
  if (!undead_zombies.active || !undead_zombie_enter()) return undead_fenced_release((uintptr_t)block);
  int64_t left = undead_thread.choice_left;
  void *twin = bury_chosen((uintptr_t)block, pc, sp, bp);
  undead_thread.choice_left = left;
  undead_zombie_leave();
  return twin;
}

static void begin(uint32_t rate, bool storage, bool names) {
  one_in = rate;
  only_storage = storage;
  by_name = names;
  undead_chosen_blocks.choose = choose;
  undead_chosen_blocks.take_back = take_back;
  undead_block_choice_set(true);
  if (names) undead_block_source_set(take_watched);
}

void undead_chosen_begin(uint32_t rate, bool names) { begin(rate, false, names); }
void undead_chosen_begin_with_storage(void) { begin(1, true, false); }

// A copy of the random numbers would choose the same blocks in each child, and what its parent took is none of its own.
void undead_chosen_after_fork_in_child(void) {
  undead_thread.choice_seed = 0;
  undead_thread.choice_left = 0;
  paid_until = 0;
}

void undead_chosen_end(void) {
  undead_block_choice_set(false);
  by_name = false;
  for (int i = 0; i < WATCHED; i++) watched[i].until = 0;
  undead_block_source_set(NULL);
  undead_fenced_open_all();
}
