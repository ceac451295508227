#include "undead_supported.h"
#if UNDEAD_SUPPORTED
// Interposes the function that runs the program's main: the last moment to register an exit handler that runs before
// those of the libraries, and the first at which all constructors have run.
#define _GNU_SOURCE
#include "session/life/exit.h"
#include "platform/images/c_library.h"
#include "platform/memory/own_data.h"
#include "session/state/session.h"
#include <dlfcn.h>
#include <stddef.h>

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_function program_main;

// Called by the stub in stubs_*.c; returns the function to jump to.
__attribute__((visibility("hidden"))) main_function undead_main_called(const undead_call_site *site);
int undead_main_stub(int count, char **arguments, char **environment) __attribute__((visibility("hidden")));

main_function undead_main_called(const undead_call_site *site) {
  undead_main_call = *site;
  undead_session_before_main();
  return program_main;
}

#if !defined(__x86_64__)
// Without a stub for this processor the call site stays unknown, and the scan takes the whole stack for live.
int undead_main_stub(int count, char **arguments, char **environment) {
  undead_session_before_main();
  return program_main(count, arguments, environment);
}
#endif

__attribute__((visibility("default"))) int __libc_start_main(
    main_function main, int count, char **arguments, void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
    void *stack_end) {
  // In a program that links Undead this runs before its constructors.
  undead_session_prepare();
  start_function next = (start_function)undead_symbol(RTLD_NEXT, "__libc_start_main");
  if (undead_session_in_charge()) {
    program_main = main;
    main = undead_main_stub;
  }
  return next(main, count, arguments, init, fini, loader_fini, stack_end);
}
#endif
