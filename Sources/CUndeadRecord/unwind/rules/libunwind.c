// libunwind: the reference, and the fallback for frames that the own rules cannot unwind.
#include "unwind/rules/libunwind.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include "unwind/backtrace.h"
#include <dlfcn.h>
#include <errno.h>
#include <ucontext.h>

// Not linked: a DT_NEEDED libunwind would put its _Unwind_* before libgcc's, which breaks exceptions and cancellation.
// The types are libunwind's: unw_cursor_t is 127 words, unw_context_t is ucontext_t, register 16 is the ip.
typedef struct {
  uintptr_t opaque[256];
} cursor;
enum { REGISTER_IP = 16 };

static struct {
  int (*backtrace)(void **buffer, int size);
  int (*get_context)(ucontext_t *context);
  int (*init_local)(cursor *cursor, ucontext_t *context);
  int (*step)(cursor *cursor);
  int (*get_register)(cursor *cursor, int number, uintptr_t *value);
  void (*flush_cache)(void *space, uintptr_t low, uintptr_t high);
  void **local_space;
} library;
static bool ready;
static bool forbidden;          // in a forked child, where its locks may be held by a thread that is gone
static bool images_unloaded;    // unw_backtrace has a cache that nothing flushes: from then on step by step

static void *find_function(void *handle, const char *local_name, const char *name) {
  void *address = undead_symbol(handle, local_name);
  return address ? address : undead_symbol(handle, name);
}

bool undead_backtrace_load_libunwind(void) {
  if (__atomic_load_n(&ready, __ATOMIC_ACQUIRE)) return true;
  int saved = errno;
  void *handle = undead_open_library("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  bool complete = false;
  if (handle) {
    *(void **)&library.backtrace = undead_symbol(handle, "unw_backtrace");
    *(void **)&library.get_context = find_function(handle, "_ULx86_64_getcontext", "_Ux86_64_getcontext");
    *(void **)&library.init_local = undead_symbol(handle, "_ULx86_64_init_local");
    *(void **)&library.step = undead_symbol(handle, "_ULx86_64_step");
    *(void **)&library.get_register = undead_symbol(handle, "_ULx86_64_get_reg");
    *(void **)&library.flush_cache = find_function(handle, "_ULx86_64_flush_cache", "_Ux86_64_flush_cache");
    library.local_space = undead_symbol(handle, "_ULx86_64_local_addr_space");
    complete = library.backtrace && library.get_context && library.init_local && library.step &&
               library.get_register && library.flush_cache && library.local_space;
  }
  errno = saved;
  __atomic_store_n(&ready, complete, __ATOMIC_RELEASE);
  return complete;
}

static uint32_t step_by_step(uintptr_t *frames, uint32_t max) {
  ucontext_t context;
  cursor at;
  uint32_t found = 0;
  if (library.get_context(&context) < 0 || library.init_local(&at, &context) < 0) return 0;
  while (found < max && library.step(&at) > 0) {
    uintptr_t pc = 0;
    if (library.get_register(&at, REGISTER_IP, &pc) < 0 || !pc) break;
    frames[found++] = pc;
  }
  return found;
}

uint32_t undead_backtrace_libunwind(uintptr_t *frames, uint32_t max) {
  if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) || forbidden) return 0;
  int saved = errno;
  undead_thread.ignored++;
  uint32_t found = 0;
  if (__atomic_load_n(&images_unloaded, __ATOMIC_ACQUIRE)) {
    found = step_by_step(frames, max);
  } else {
    int count = library.backtrace((void **)frames, max < 0x7FFFFFFF ? (int)max : 0x7FFFFFFF);
    if (count > 0) found = (uint32_t)count;
  }
  undead_thread.ignored--;
  errno = saved;
  return found;
}

void undead_libunwind_images_unloaded(void) {
  if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) || forbidden) return;
  library.flush_cache(*library.local_space, 0, 0);
  __atomic_store_n(&images_unloaded, true, __ATOMIC_RELEASE);
}

bool undead_libunwind_is_ready(void) { return __atomic_load_n(&ready, __ATOMIC_ACQUIRE) && !forbidden; }

void undead_libunwind_forbid(void) {
  forbidden = true;
}
