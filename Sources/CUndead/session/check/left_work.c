// What a scope started and has not ended: tasks, timers and calls of libdispatch; threads are in left_threads.c. It looks at the records of
// blocks and at a few words of each, read by the kernel: the program runs meanwhile, and may free them.
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "record/registry.h"
#include "record/scopes.h"
#include "runtime/abi.h"
#include "runtime/layout.h"
#include "session/check/check.h"
#include "undead_assertions.h"
#include "undead_backtraces.h"
#include "unwind/backtrace.h"
#include <errno.h>
#include <string.h>

// Exported by the concurrency library: the metadata of tasks (stdlib/public/Concurrency/Debug.h).
extern const void *const _swift_concurrency_debug_asyncTaskMetadata __attribute__((weak));

typedef struct {
  undead_left_work *list;
  uint32_t count, max;
  uintptr_t source, timer, after;   // the first words of a source of libdispatch, and of what it owns
  uintptr_t block;                  // the first word of a block of C
  bool has_block;
} work_search;

const undead_module *undead_left_library(const char *name) {
  for (size_t i = 0; i < undead_module_count(); i++)
    if (strstr(undead_module_at(i)->path, name)) return undead_module_at(i);
  return NULL;
}

uintptr_t undead_left_metadata_of_blocks(const undead_module *dispatch) {
  const undead_module *blocks = undead_left_library("/libBlocksRuntime.so");
  return undead_symbol_address(blocks ? blocks : dispatch, "_NSConcreteMallocBlock", NULL);
}

static bool read_words(uintptr_t address, void *words, size_t size) { return undead_copy_memory(address, words, size); }

static bool is_task(uintptr_t isa) {
  return &_swift_concurrency_debug_asyncTaskMetadata && isa == (uintptr_t)_swift_concurrency_debug_asyncTaskMetadata;
}

bool undead_left_is_of_program(uintptr_t frame) {
  const undead_module *module = undead_module_of(frame - 1);
  return module && !module->toolchain;
}

static bool note_left_task(uintptr_t block, uintptr_t first, undead_left_work *work) {
  uint32_t status;
  if (!is_task(first) || !read_words(block + ABI_TASK_STATUS, &status, sizeof status)) return false;
  undead_node node = {.address = block, .kind = UNDEAD_KIND_TASK, .state = UNDEAD_STATE_LIVE};
  undead_scan_result result = {.nodes = &node, .node_count = 1};
  work->kind = UNDEAD_LEFT_TASK;
  work->status = status >> ABI_TASK_STATUS_SHIFT;
  if (work->status & ABI_TASK_COMPLETE) return false;
  work->frame_count = undead_node_frames(&result, 0, work->frames, UNDEAD_LEFT_FRAMES);
  if (work->status & (ABI_TASK_RUNNING | ABI_TASK_ENQUEUED)) return true;
  // The runtime has a task of its own for each sleep, which stays when the sleep is cancelled.
  for (uint32_t i = 0; i < work->frame_count; i++)
    if (undead_left_is_of_program(work->frames[i])) return true;
  return false;
}

// What calls a task or a job later is the runtime's own.
static bool calls_job(const uintptr_t *refs) {
  uintptr_t handler = refs[ABI_SOURCE_HANDLERS / 8], context, isa, kind;
  return read_words(handler + ABI_CONTINUATION_FUNCTION + 8, &context, sizeof context) && read_words(context, &isa, sizeof isa)
    && read_words(isa, &kind, sizeof kind) && (ABI_KIND_READ(kind) == ABI_KIND_TASK || ABI_KIND_READ(kind) == ABI_KIND_JOB);
}

// The timer of a sleep stays, too, when the sleep is cancelled: what made it was called by the concurrency library.
static bool is_made_by_program(const undead_left_work *work) {
  const undead_module *runtime =
    &_swift_concurrency_debug_asyncTaskMetadata ? undead_module_of((uintptr_t)_swift_concurrency_debug_asyncTaskMetadata) : NULL;
  for (uint32_t i = 0; i < work->frame_count; i++) {
    if (undead_left_is_of_program(work->frames[i])) return true;
    if (runtime && undead_module_of(work->frames[i] - 1) == runtime) return false;
  }
  return false;
}

static bool note_source(const work_search *search, uintptr_t block, uintptr_t first, uint32_t backtrace, undead_left_work *work) {
  enum { STATE = 2 };
  uintptr_t refs, words[ABI_SOURCE_HANDLERS / 8 + 1];
  uint32_t flags;
  bool source = search->source && first == search->source
    && read_words(block + ABI_SOURCE_FLAGS, &flags, sizeof flags) && !(flags & ABI_SOURCE_CANCELLED)
    && read_words(block + ABI_SOURCE_REFS, &refs, sizeof refs) && read_words(refs, words, sizeof words);
  if (!source || !words[STATE] || (words[0] != search->timer && words[0] != search->after) || calls_job(words)) return false;
  work->kind = words[0] == search->timer ? UNDEAD_LEFT_TIMER : UNDEAD_LEFT_CALL;
  work->frame_count = undead_backtrace_frames(backtrace, work->frames, UNDEAD_LEFT_FRAMES);
  return is_made_by_program(work);
}

// One is enough to say that threads of libdispatch have to be looked at.
static bool note_block(work_search *search, uintptr_t first, undead_left_work *work) {
  if (search->has_block || !search->block || first != search->block) return false;
  work->kind = UNDEAD_LEFT_BLOCK;
  return search->has_block = true;
}

static bool visit(void *context, uintptr_t block, uint32_t *word) {
  work_search *search = context;
  uint32_t backtrace = __atomic_load_n(word, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE;
  uint32_t scope = undead_scope_of_backtrace(backtrace);
  uintptr_t first;
  if (!scope || !read_words(block, &first, sizeof first)) return true;
  undead_left_work *work = &search->list[search->count];
  *work = (undead_left_work){.scope = scope};
  if (note_left_task(block, first, work) || note_source(search, block, first, backtrace, work) || note_block(search, first, work))
    search->count++;
  return search->count < search->max;
}

uint32_t undead_left_work_since(uint32_t mark, undead_left_work *list, uint32_t max) {
  int saved_errno = errno;
  work_search search = {.list = list, .max = max};
  undead_lock_checks();   // a check renews the list of modules
  if (undead_module_count() == 0) undead_modules_refresh();
  const undead_module *dispatch = undead_left_library("/libdispatch.so");
  if (dispatch) {
    search.block = undead_left_metadata_of_blocks(dispatch);
    search.source = undead_symbol_address(dispatch, "__OS_dispatch_source_vtable", NULL);
    search.timer = undead_symbol_address(dispatch, "_dispatch_source_type_timer", NULL);
    search.after = undead_symbol_address(dispatch, "_dispatch_source_type_after", NULL);
  }
  if (max) undead_registry_each_recent(mark, visit, &search);
  undead_unlock_checks();
  errno = saved_errno;
  return search.count;
}

bool undead_left_module_of(uintptr_t address, undead_left_module *module) {
  const undead_module *found = undead_module_of(address);
  if (!found) return false;
  *module = (undead_left_module){found->low, found->high, found->bias, found->toolchain, found->path, found->build_id};
  return true;
}
