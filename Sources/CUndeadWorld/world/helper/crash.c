#include "world/helper/clone.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "world/helper.h"

volatile uintptr_t *undead_crash_address;

static void (*volatile before_crash)(void *context);
static void *before_crash_context;

void undead_helper_before_crash(void (*function)(void *), void *context) {
  before_crash_context = context;
  before_crash = function;
}

static void (*way_out)(int number, uintptr_t address);

void undead_helper_at_fault(void (*function)(int number, uintptr_t address)) { way_out = function; }

_Noreturn void undead_helper_fault(int number, uintptr_t address) {
  if (way_out) way_out(number, address);
  void (*function)(void *) = before_crash;
  before_crash = NULL;   // it may crash, too
  *undead_crash_address = address;
  if (function) function(before_crash_context);
  undead_raw3(SYS_exit_group, UNDEAD_CRASH_EXIT + number, 0, 0);
  __builtin_unreachable();
}
