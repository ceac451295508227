// UNDEAD_XCTEST: has the test library check all tests, without a change to them. Swift code cannot run by itself when
// a program starts.
#include "platform/system/environment.h"

// Defined by UndeadXCTest, if that is linked into the program.
__attribute__((weak)) extern void undead_check_all_tests(const char *moment);

__attribute__((constructor)) static void begin(void) {
  const char *moment = undead_setting("UNDEAD_XCTEST");
  if (undead_check_all_tests && moment && *moment) undead_check_all_tests(moment);
}
