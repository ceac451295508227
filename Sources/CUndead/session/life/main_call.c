#include "session/life/life.h"
#include "platform/memory/own_data.h"
#include "session/state/session.h"

undead_main_function undead_program_main;

undead_main_function undead_main_called(const undead_call_site *site) {
  undead_main_call = *site;
  undead_session_before_main();
  return undead_program_main;
}
