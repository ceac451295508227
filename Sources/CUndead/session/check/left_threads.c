// What runs on a thread, and which scope started it. Nothing says who started a thread, but the block that libdispatch runs, and the Thread
// that Foundation runs, are released after the call: the thread's stack names them until then. It may name others, too, by stale words.
// So the scope is known if all blocks, or all Threads, that the stack names were allocated in one scope.
//
//   start_thread < _dispatch_worker_thread < _dispatch_call_block_and_release (the block) < code of the program
//   start_thread < NSThreadStart (the Thread) < Thread.main < code of the program
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/registry.h"
#include "runtime/abi.h"
#include "session/check/check.h"
#include "undead_assertions.h"
#include "undead_scopes.h"
#include <errno.h>

static uintptr_t first_word(uintptr_t address) {
  uintptr_t word = 0;
  return address && undead_copy_memory(address, &word, sizeof word) ? word : 0;
}

static bool is_in(const undead_module *module, uintptr_t frame) { return module && frame > module->low && frame <= module->high; }

static bool is_in_function(uintptr_t frame, const undead_module *module, const char *name) {
  size_t size = 0;
  uintptr_t start = undead_symbol_address(module, name, &size);
  return start && frame > start && frame <= start + size;
}

// Both release the block after its call.
static bool calls_block(const undead_module *dispatch, uintptr_t frame) {
  return is_in_function(frame, dispatch, "_dispatch_call_block_and_release") || is_in_function(frame, dispatch, "_dispatch_block_async_invoke2");
}

static bool is_block_of_c(uintptr_t block, uintptr_t metadata) { return first_word(block) == metadata; }

static bool is_thread(uintptr_t block, uintptr_t metadata) {
  enum { MOST_SUPERCLASSES = 16 };
  uintptr_t class = first_word(block);
  for (int i = 0; i < MOST_SUPERCLASSES && class && class != metadata; i++) class = first_word(class + ABI_CLASS_SUPER);
  return class == metadata;
}

// The scope of all named blocks of that kind; 0 if there are several or none.
static uint32_t scope_of(const undead_named_blocks *named, bool (*is_wanted)(uintptr_t, uintptr_t), uintptr_t metadata) {
  uint32_t scope = 0;
  for (uint32_t i = 0; metadata && named->whole && i < named->count; i++) {
    if (!is_wanted(named->blocks[i], metadata)) continue;
    uint32_t other = undead_scope_of_block((const void *)named->blocks[i]);
    if (!other || (scope && scope != other)) return 0;
    scope = other;
  }
  return scope;
}

// What runs on a thread of a pool counts if a block started it: the thread itself stays.
static bool note_pool(const undead_module *dispatch, const undead_named_blocks *named, undead_left_work *work) {
  bool called = false;
  for (uint32_t i = 0; i < work->frame_count; i++) called |= calls_block(dispatch, work->frames[i]);
  work->kind = UNDEAD_LEFT_BLOCK;
  work->scope = called ? scope_of(named, is_block_of_c, undead_left_metadata_of_blocks(dispatch)) : 0;
  return work->scope != 0;
}

static bool note_thread(const undead_named_blocks *named, undead_left_work *work) {
  const undead_module *foundation = undead_left_library("/libFoundation.so");
  bool called = false;
  for (uint32_t i = 0; i < work->frame_count; i++) called |= is_in(foundation, work->frames[i]);
  uintptr_t metadata = called ? undead_symbol_address(foundation, "$s10Foundation6ThreadCN", NULL) : 0;
  work->scope = metadata ? scope_of(named, is_thread, metadata) : 0;
  return true;
}

bool undead_left_thread(int32_t tid, undead_left_work *work) {
  static undead_named_blocks named;
  *work = (undead_left_work){.kind = UNDEAD_LEFT_THREAD};
  undead_lock_checks();
  work->frame_count = undead_thread_look(tid, work->frames, UNDEAD_LEFT_FRAMES, &named);
  const undead_module *dispatch = undead_left_library("/libdispatch.so");
  bool program = false, pool = false;   // the outermost says whose thread it is: code of the program may wait in libdispatch
  for (uint32_t i = 0; i < work->frame_count; i++) {
    bool own = undead_left_is_of_program(work->frames[i]), of_dispatch = is_in(dispatch, work->frames[i]);
    program |= own;
    pool = of_dispatch || (pool && !own);
  }
  bool found = program && (pool ? note_pool(dispatch, &named, work) : note_thread(&named, work));
  undead_unlock_checks();
  return found;
}
