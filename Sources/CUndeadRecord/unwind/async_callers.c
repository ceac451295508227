#define _GNU_SOURCE
#include "unwind/async_callers.h"

bool undead_async_wanted;

#if defined(__x86_64__)
#include "record/mode.h"
#include "record/registry.h"
#include "record/thread.h"
#include "unwind/backtrace.h"
#include "unwind/known_x86_64.h"
#include "unwind/stack.h"
#include "unwind/store.h"
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define CALLER_LIMIT 24u   // a test lies near, behind them is the test library
#define FRAME_LIMIT 128u

// Head of each context (swift/ABI/Task.h, AsyncContext): the caller's context, and where the caller goes on.
typedef struct async_context {
  const struct async_context *parent;
  uintptr_t resume_parent;
} async_context;

// Exported by the concurrency library (swift/Runtime/Concurrency.h); its calling convention is C's without arguments.
static void *(*current_task)(void);

void undead_async_begin(void) {
  current_task = (void *(*)(void))dlsym(RTLD_DEFAULT, "swift_task_getCurrent");
  dlerror();
  undead_async_wanted = current_task != NULL;
  if (undead_async_wanted) undead_record_extras = true;
}

// The first question of a thread may allocate.
static bool runs_task(void) {
  if (undead_thread.asks_scope) return false;
  int saved_errno = errno;
  undead_thread.asks_scope = 1;
  bool runs = current_task() != NULL;
  undead_thread.asks_scope = 0;
  errno = saved_errno;
  return runs;
}

// Below the saved rbp of an asynchronous function's frame lies its context.
static const async_context *innermost_context(undead_frame frame) {
  undead_thread_state *thread = &undead_thread;
  if (!undead_stack_covers(thread, frame.sp)) return NULL;
  for (uint32_t depth = 0; depth < FRAME_LIMIT; depth++) {
    undead_rule rule;
    const uintptr_t *bp_slot;
    if (undead_pc_find(frame.pc, &rule) == UNDEAD_PC_NONE || !is_plain(rule)) return NULL;
    if (!step(&frame, &bp_slot, rule, thread->stack_high)) return NULL;
    if (rule & UNDEAD_RULE_ASYNC) return ((const async_context *const *)frame.sp)[-3];
  }
  return NULL;
}

static uint32_t read_callers(const async_context *context, uint32_t *callers) {
  uint32_t count = 0;
  // The contexts of waiting callers stay where they are until their callee is done.
  while (context && ((uintptr_t)context & 7) == 0 && context->resume_parent && count < CALLER_LIMIT) {
    undead_rule rule;
    // Like a return address: it is looked up by what is before it.
    uint32_t index = undead_pc_find(context->resume_parent + 1, &rule);
    if (index == UNDEAD_PC_NONE || undead_rule_kind(rule) == UNDEAD_RULE_UNKNOWN ||
        undead_rule_kind(rule) == UNDEAD_RULE_END)
      break;
    callers[count++] = index | UNDEAD_ASYNC_BIT;
    context = context->parent;
  }
  return count;
}

uint32_t undead_async_tag(uint32_t backtrace, undead_frame frame) {
  if (backtrace == UNDEAD_BACKTRACE_NONE || !runs_task()) return backtrace;
  uint32_t callers[CALLER_LIMIT], count = read_callers(innermost_context(frame), callers);
  const undead_trie_node *inner = undead_trie_at(backtrace);
  assert(inner->pc_index & UNDEAD_RUN_BIT);
  uint32_t outer = inner->parent;
  for (uint32_t index = count; index > 0 && outer; index--) outer = undead_store_child(outer, callers[index - 1]);
  uint32_t tagged = outer && count > 0 ? undead_store_child(outer, inner->pc_index) : 0;
  return tagged ? tagged : backtrace;
}

void undead_async_arrange(uint32_t *indices, uint32_t count) {
  uint32_t callers[CALLER_LIMIT], found = 0, kept = 0, place = UNDEAD_PC_NONE;
  for (uint32_t index = 0; index < count; index++) {
    uint32_t entry = indices[index];
    if (entry & UNDEAD_ASYNC_BIT) {
      assert(found < CALLER_LIMIT);
      callers[found++] = entry & ~UNDEAD_ASYNC_BIT;
      continue;
    }
    indices[kept++] = entry;
    if (place == UNDEAD_PC_NONE && undead_pcs[entry].rule & UNDEAD_RULE_ASYNC) place = kept;
  }
  if (place > kept) place = kept;
  memmove(indices + place + found, indices + place, (kept - place) * sizeof(*indices));
  memcpy(indices + place, callers, found * sizeof(*indices));
}

#else

void undead_async_begin(void) {}

uint32_t undead_async_tag(uint32_t backtrace, undead_frame frame) {
  (void)frame;
  return backtrace;
}

void undead_async_arrange(uint32_t *indices, uint32_t count) { (void)indices, (void)count; }

#endif
