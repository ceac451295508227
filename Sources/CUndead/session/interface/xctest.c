// How UndeadTesting finds UndeadXCTest, which it is not linked with. Standard C only: it is the same on every platform.
#include "undead_assertions.h"

typedef void fail_function(const char *text, const char *file, size_t line);

// `undead_record_in_xctest` is defined by UndeadXCTest, if that is linked into the program.
#if defined(__APPLE__)
extern void *dlsym(void *handle, const char *name);
static fail_function *xctest(void) {
  void *const everywhere = (void *)-2; // RTLD_DEFAULT
  return (fail_function *)dlsym(everywhere, "undead_record_in_xctest");
}
#elif defined(__ELF__)
__attribute__((weak)) extern fail_function undead_record_in_xctest;
static fail_function *xctest(void) { return undead_record_in_xctest; }
#else
static fail_function *xctest(void) { return NULL; }
#endif

bool undead_has_xctest(void) { return xctest() != NULL; }

void undead_fail_in_xctest(const char *text, const char *file, size_t line) {
  if (xctest()) xctest()(text, file, line);
}
