#include "session/state/interpose.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"

undead_next_functions undead_next_of_libc;

void *undead_next_found(void **next, const char *name) {
  void *found = __atomic_load_n(next, __ATOMIC_RELAXED);
  if (__builtin_expect(found != NULL, 1)) return found;
  found = undead_symbol(RTLD_NEXT, name);
  __atomic_store_n(next, found, __ATOMIC_RELAXED);
  return found;
}

void undead_next_find_all(void) {
#define FIND_NEXT(name) (void)UNDEAD_NEXT(name);
  UNDEAD_INTERPOSED(FIND_NEXT)
}
