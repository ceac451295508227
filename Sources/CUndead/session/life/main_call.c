#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "session/life/main_call.h"
#include "platform/memory/own_data.h"
#include "session/state/session.h"

undead_main_function undead_program_main;

undead_main_function undead_main_called(const undead_call_site *site) {
  undead_main_call = *site;
  undead_session_before_main();
  return undead_program_main;
}

#if !defined(__x86_64__)
// Without a stub for this processor the call site stays unknown, and the scan takes the whole stack for live.
int undead_main_stub(int count, char **arguments, char **environment) {
  undead_session_before_main();
  return undead_program_main(count, arguments, environment);
}
#endif
#endif
