// How functions of libc are interposed: by definitions of the same name that call the next one in scope.
#pragma once
#include "platform/images/c_library.h"
#include <dlfcn.h>

#define UNDEAD_PUBLIC __attribute__((visibility("default")))

// The program may call an interposed function before our constructor ran, so the next one is looked up when needed; the
// `..._find_next` functions do it early, since dlsym must not be called in signal handlers.
#define UNDEAD_NEXT(pointer, name)                                                      \
  ({                                                                                    \
    void *undead_next = __atomic_load_n((void **)&(pointer), __ATOMIC_RELAXED);          \
    if (!undead_next) {                                                                 \
      undead_next = undead_symbol(RTLD_NEXT, name);                                             \
      __atomic_store_n((void **)&(pointer), undead_next, __ATOMIC_RELAXED);              \
    }                                                                                   \
    (__typeof__(pointer))undead_next;                                                   \
  })
