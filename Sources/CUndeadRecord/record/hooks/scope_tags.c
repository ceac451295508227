// Which scope code runs in: the value of a task-local variable, which is asked for each new block while a scope is open, and kept in
// the block's backtrace.
#include "record/scopes.h"
#include "platform/memory/own_data.h"
#include "undead_scopes.h"
#include "platform/memory/thread_state.h"
#include "record/registry.h"
#include "unwind/capture/capture_x86_64.h"
#include "unwind/store/store.h"
#include <errno.h>

// Exported by the concurrency library (stdlib/public/Concurrency/TaskLocal.cpp). Outside of tasks they use a variable
// of the thread. Weak: programs without concurrency, and the preloaded library, do not have them.
extern const uint32_t *swift_task_localValueGet(const void *key) __attribute__((swiftcall, weak));
extern void swift_task_localValuePush(const void *key, void *value, const void *type) __attribute__((swiftcall, weak));
extern void swift_task_localValuePop(void) __attribute__((swiftcall, weak));
extern void *swift_task_getCurrent(void) __attribute__((swiftcall, weak));

static const void *task_local;
static uint32_t outside_mark;

void undead_scopes_use_task_local(const void *key) { __atomic_store_n(&task_local, key, __ATOMIC_RELEASE); }

void undead_scopes_set_outside(uint32_t mark) { __atomic_store_n(&outside_mark, mark, __ATOMIC_RELEASE); }

void undead_scopes_leave(void) { undead_thread.unscoped++; }
void undead_scopes_return(void) { undead_thread.unscoped--; }

static uint32_t outside(void) {
  uint32_t mark = __atomic_load_n(&outside_mark, __ATOMIC_ACQUIRE);
  return mark ? mark : UNDEAD_SCOPE_OUTSIDE;
}

// A detached task inherits no values: it belongs to the scope of the code that made it, as its own block shows.
static uint32_t scope_of_task(void) {
  const void *task = swift_task_getCurrent ? swift_task_getCurrent() : NULL;
  uint32_t scope = task ? undead_scope_of_block(task) : 0;
  return scope & UNDEAD_SCOPE_BESIDE ? 0 : scope;   // as are those of OUTSIDE
}

// Asking may allocate: the first access of a thread to a library's thread-local variables does.
static uint32_t current_scope(void) {
  const void *key = __atomic_load_n(&task_local, __ATOMIC_ACQUIRE);
  if (!key || !swift_task_localValueGet || undead_thread.asks_scope) return outside();
  int saved_errno = errno;
  undead_thread.asks_scope = 1;
  const uint32_t *value = swift_task_localValueGet(key);
  uint32_t scope = value ? *value : scope_of_task();
  undead_thread.asks_scope = 0;
  errno = saved_errno;
  return scope ? scope : outside();
}

static undead_scoped_nodes *known_nodes(void) {
  undead_unwind_cache *cache = undead_thread.unwind_cache;
  return cache ? &cache->scoped : NULL;
}

uint32_t undead_scope_tag(uint32_t backtrace) {
  if (undead_thread.unscoped || !undead_store_prepare()) return backtrace;
  uint32_t tagged = undead_store_in_scope(backtrace, current_scope(), &undead_thread.scope_node, known_nodes());
  return tagged ? tagged : backtrace;
}

uint32_t undead_scope_of_backtrace(uint32_t backtrace) {
  return backtrace <= UNDEAD_BACKTRACE_NONE ? 0 : undead_store_scope(backtrace);
}

uint32_t undead_scope_of_block(const void *block) {
  const uint32_t *slot = undead_registry_slot((uintptr_t)block);
  return slot ? undead_scope_of_backtrace(__atomic_load_n(slot, __ATOMIC_ACQUIRE) & UNDEAD_WORD_BACKTRACE) : 0;
}

uint32_t undead_scope_mark(void) { return undead_store_count(); }

// In which task, or NULL, this thread pushed what it has not popped: a value must be popped where it was pushed.
#define MOST_PUSHED 8
static __thread struct {
  uint32_t count;
  const void *tasks[MOST_PUSHED];
} pushed;

bool undead_scope_push(uint32_t scope, const void *uint32_type) {
  const void *key = __atomic_load_n(&task_local, __ATOMIC_ACQUIRE);
  if (!key || !swift_task_localValuePush || !swift_task_getCurrent || pushed.count == MOST_PUSHED) return false;
  pushed.tasks[pushed.count++] = swift_task_getCurrent();
  swift_task_localValuePush(key, &scope, uint32_type);
  return true;
}

void undead_scope_pop(void) {
  if (!pushed.count || pushed.tasks[pushed.count - 1] != swift_task_getCurrent()) return;
  // Thread-local storage is a root.
  pushed.tasks[--pushed.count] = NULL;
  swift_task_localValuePop();
}
