#include "unwind/async_callers.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"

bool undead_async_wanted;

#include "platform/memory/thread_state.h"
#include "unwind/backtrace.h"
#include "unwind/capture/known_x86_64.h"
#include "unwind/capture/memo_x86_64.h"
#include "unwind/store/stack.h"
#include "unwind/store/store.h"
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define CALLER_LIMIT UNDEAD_ASYNC_CALLERS
#define NO_SLOT 1u
#define FRAME_LIMIT 128u

// Head of each context (swift/ABI/Task.h, AsyncContext): the caller's context, and where the caller goes on.
typedef struct async_context {
  const struct async_context *parent;
  uintptr_t resume_parent;
} async_context;

// Exported by the concurrency library (swift/Runtime/Concurrency.h); its calling convention is C's without arguments.
static void *(*current_task)(void);

void undead_async_begin(void) {
  current_task = (void *(*)(void))undead_symbol(RTLD_DEFAULT, "swift_task_getCurrent");
  undead_forget_symbol_error();
  undead_async_wanted = current_task != NULL;
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

// Below the saved rbp of an asynchronous function's frame lies its context. NO_SLOT if there is none.
static uintptr_t find_context_slot(undead_frame frame) {
  undead_thread_state *thread = &undead_thread;
  if (!undead_stack_covers(thread, frame.sp)) return NO_SLOT;
  for (uint32_t depth = 0; depth < FRAME_LIMIT; depth++) {
    undead_rule rule;
    undead_link link;
    if (undead_pc_find(frame.pc, &rule) == UNDEAD_PC_NONE || !is_plain(rule)) return NO_SLOT;
    if (!step(&frame, &link, rule, thread->stack_high)) return NO_SLOT;
    if (rule & UNDEAD_RULE_ASYNC) return frame.sp - 3 * sizeof(uintptr_t);
  }
  return NO_SLOT;
}

// The whole stack that the capture of this backtrace has just compared: its frames lie where they lay. A signal handler may have
// captured since, on a stack of its own or further in.
static undead_memo *known_stack(undead_unwind_cache *cache, uint32_t backtrace, uintptr_t pc, uintptr_t sp) {
  undead_memo *memo = cache->followed;
  return memo && cache->holds && memo->id == backtrace && memo->sp == sp && memo->pc == pc ? memo : NULL;
}

// NO_SLOT outside of tasks, too. Once an asynchronous frame of a task was found, nobody needs to ask for the task again: as long
// as that frame is there, so is its context.
static uintptr_t context_slot(undead_unwind_cache *cache, uint32_t backtrace, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  undead_memo *memo = cache ? known_stack(cache, backtrace, pc, sp) : NULL;
  if (LIKELY(memo && memo->context_slot)) return memo->context_slot;
  if (!runs_task()) return NO_SLOT;
  uintptr_t slot = find_context_slot((undead_frame){pc, sp, bp});
  if (memo) memo->context_slot = slot;
  return slot;
}

// Where the caller goes on, 0 if there is none.
static uintptr_t caller_in(const async_context *context) {
  return context && ((uintptr_t)context & 7) == 0 ? context->resume_parent : 0;
}

// Reads the callers anew, and keeps their addresses in `known` if there is one.
static uint32_t read_callers(const async_context *context, uint32_t *callers, undead_known_callers *known) {
  uint32_t count = 0;
  uintptr_t resume;
  // The contexts of waiting callers stay where they are until their callee is done.
  while ((resume = count < CALLER_LIMIT ? caller_in(context) : 0)) {
    undead_rule rule;
    // Like a return address: it is looked up by what is before it.
    uint32_t index = undead_pc_find(resume + 1, &rule);
    undead_rule_special kind = undead_rule_kind(rule);
    if (index == UNDEAD_PC_NONE || kind == UNDEAD_RULE_END || kind == UNDEAD_RULE_FOREIGN) break;
    if (known) {
      known->callers[count].context = (uintptr_t)context;
      known->callers[count].resume = resume;
    }
    callers[count++] = index | UNDEAD_ASYNC_BIT;
    context = context->parent;
  }
  if (known) known->end = resume;
  return count;
}

static uint32_t find_tag(uint32_t backtrace, const async_context *context, undead_known_callers *known) {
  uint32_t callers[CALLER_LIMIT], count = read_callers(context, callers, known);
  const undead_trie_node *inner = undead_trie_at(backtrace);
  assert(inner->pc_index & UNDEAD_RUN_BIT);
  uint32_t outer = undead_store_parent(backtrace);
  for (uint32_t index = count; index > 0 && outer; index--) outer = undead_store_child(outer, callers[index - 1]);
  uint32_t tagged = outer && count > 0 ? undead_store_child(outer, inner->pc_index) : 0;
  if (known) known->count = count;
  return tagged ? tagged : backtrace;
}

// True if the callers are those that are known. Their contexts mostly lie where they lay: the processor goes on with that address
// while it still reads, out of the one before, that it is the right one.
static bool same_callers(undead_known_callers *known, const async_context *context) {
  for (uint32_t index = 0; index < known->count; index++) {
    uintptr_t expected = known->callers[index].context, compared = expected;
    // Else the compiler would take the address that was read, which is the same.
    __asm__("" : "+r"(compared));
    if (UNLIKELY(compared != (uintptr_t)context)) {
      if (!context || (uintptr_t)context & 7) return false;
      known->callers[index].context = expected = (uintptr_t)context;
    }
    const async_context *waiting = (const async_context *)expected;
    if (waiting->resume_parent != known->callers[index].resume) return false;
    context = waiting->parent;
  }
  return known->count == CALLER_LIMIT || caller_in(context) == known->end;
}

INLINE uint32_t tag(undead_unwind_cache *cache, uint32_t epoch, uint32_t backtrace, uintptr_t slot) {
  if (slot == NO_SLOT) return backtrace;
  const async_context *context = *(const async_context *const *)slot;
  if (!cache) return find_tag(backtrace, context, NULL);
  uint8_t *number = &cache->caller_numbers[(backtrace ^ backtrace >> 7) % UNDEAD_KNOWN_CALLERS];
  if (UNLIKELY(!*number)) *number = (uint8_t)++cache->used_callers;
  undead_known_callers *known = &cache->callers[*number];
  if (known->id == backtrace && known->epoch == epoch && same_callers(known, context)) return known->tagged;
  known->id = 0;
  known->tagged = find_tag(backtrace, context, known);
  known->epoch = epoch;
  known->id = backtrace;
  return known->tagged;
}

uint32_t undead_async_tag(uint32_t backtrace, uintptr_t pc, uintptr_t sp, uintptr_t bp) {
  if (backtrace == UNDEAD_BACKTRACE_NONE) return backtrace;
  undead_unwind_cache *cache = undead_thread.unwind_cache;
  uint32_t epoch = __atomic_load_n(&undead_rules_epoch, __ATOMIC_ACQUIRE);
  if (!cache || cache->state != epoch) return tag(NULL, epoch, backtrace, context_slot(NULL, backtrace, pc, sp, bp));
  // A handler that captures meanwhile leaves the cache alone.
  cache->state = epoch | UNDEAD_CACHE_BUSY;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t tagged = tag(cache, epoch, backtrace, context_slot(cache, backtrace, pc, sp, bp));
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  cache->state = epoch;
  return tagged;
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
