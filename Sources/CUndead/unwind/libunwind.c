#define _GNU_SOURCE
#include "record/thread.h"
#include "unwind/backtrace.h"
#include <dlfcn.h>
#include <errno.h>

// Not linked: a DT_NEEDED libunwind would put its _Unwind_* before libgcc's, which breaks exceptions and cancellation.
typedef int (*backtrace_function)(void **buffer, int size);
static backtrace_function unw_backtrace_function;
static bool forbidden;   // in a forked child, where its locks may be held by a thread that is gone

bool undead_backtrace_load_libunwind(void) {
  if (__atomic_load_n(&unw_backtrace_function, __ATOMIC_ACQUIRE)) return true;
  int saved = errno;
  void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, "unw_backtrace") : NULL;
  errno = saved;
  __atomic_store_n(&unw_backtrace_function, (backtrace_function)function, __ATOMIC_RELEASE);
  return function != NULL;
}

uint32_t undead_backtrace_libunwind(uintptr_t *frames, uint32_t max) {
  backtrace_function capture = __atomic_load_n(&unw_backtrace_function, __ATOMIC_ACQUIRE);
  if (!capture || forbidden) return 0;
  int saved = errno;
  undead_thread.ignored++;
  int count = capture((void **)frames, max < 0x7FFFFFFF ? (int)max : 0x7FFFFFFF);
  undead_thread.ignored--;
  errno = saved;
  return count > 0 ? (uint32_t)count : 0;
}

void undead_libunwind_forbid(void) {
  forbidden = true;
}
