#include "session/life/life.h"
#include "platform/memory/own_data.h"
#include "session/state/session.h"

undead_main_function undead_program_main;

undead_main_function undead_main_called(void) {
  undead_session_before_main();
  return undead_program_main;
}
