// The memory of tasks, where the frames of asynchronous functions lie, one over the other like on a stack. It is cleared
// like that of new blocks: what an ended call left in the holes of a frame would be a reference as long as the frame lives.
#include "record/mode.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "platform/memory/thread_state.h"
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

// Exported by the concurrency library (stdlib/public/Concurrency/TaskAlloc.cpp).
typedef void *(*alloc_function)(size_t size) __attribute__((swiftcall));

static alloc_function next;

static alloc_function find_next(void) {
  int saved_errno = errno;
  undead_thread.ignored++;   // the loader may allocate
  alloc_function found = (alloc_function)undead_symbol(RTLD_NEXT, "swift_task_alloc");
  if (!found) {
    void *library = undead_open_library("libswift_Concurrency.so", RTLD_NOW | RTLD_NOLOAD);
    found = library ? (alloc_function)undead_symbol(library, "swift_task_alloc") : NULL;
  }
  undead_thread.ignored--;
  errno = saved_errno;
  if (!found) __builtin_trap();   // the caller was linked with it
  __atomic_store_n(&next, found, __ATOMIC_RELEASE);
  return found;
}

// Weak: in a program with the library linked statically, that one's is used, and nothing is cleared.
__attribute__((weak, swiftcall, visibility("default"))) void *swift_task_alloc(size_t size) {
  alloc_function alloc = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
  void *memory = (alloc ? alloc : find_next())(size);
  return undead_record_mode > UNDEAD_RECORD_OFF ? memset(memory, 0, size) : memory;
}
