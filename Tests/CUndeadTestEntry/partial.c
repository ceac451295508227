#include "undead_supported.h"
#if UNDEAD_SUPPORTED && UNDEAD_TEST_ENTRY
// UNDEAD_TEST_ALL_PARTIAL: with `--stacks hybrid`, backtraces are partial from the first block on.
#include "unwind/settings.h"
#include <stdlib.h>
#include <string.h>

__attribute__((constructor)) static void make_all_partial(void) {
  const char *stacks = getenv("UNDEAD_STACKS");
  undead_backtrace_all_partial = stacks && !strcmp(stacks, "hybrid") && getenv("UNDEAD_TEST_ALL_PARTIAL");
}
#endif
