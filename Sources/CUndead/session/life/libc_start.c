// Interposes the function that runs the program's main: the last moment to register an exit handler that runs before
// those of the libraries, and the first at which all constructors have run.
#include "session/life/life.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "session/state/session.h"
#include <dlfcn.h>

typedef int (*start_function)(undead_main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

__attribute__((visibility("default"))) int __libc_start_main(
    undead_main_function main, int count, char **arguments, void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
    void *stack_end) {
  // In a program that links Undead this runs before its constructors.
  undead_session_prepare();
  start_function next = (start_function)undead_symbol(RTLD_NEXT, "__libc_start_main");
  if (undead_session_in_charge()) {
    undead_program_main = main;
    main = undead_main_stub;
  }
  return next(main, count, arguments, init, fini, loader_fini, stack_end);
}
