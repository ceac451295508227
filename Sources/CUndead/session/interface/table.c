// What layers above find of the instrument when they do not link it. Also where there is none (unsupported.c): run loops
// leave there how they are run.
#include "undead.h"
#include "platform/memory/own_data.h"
#include "undead_backtraces.h"
#include "undead_facts.h"
#include "undead_objects.h"
#include "undead_run_loops.h"
#include "undead_sniffer.h"
#include "undead_supported.h"

_Static_assert(UNDEAD_INSTRUMENT_TIMER_TARGET == UNDEAD_ZOMBIE_TIMER_TARGET, "layers above know the number");

bool undead_is_supported(void) { return UNDEAD_SUPPORTED; }

static bool zombie_report(uint32_t kind, const void *object, const char *type, uintptr_t function) {
  return undead_zombie_report((undead_zombie_kind)kind, object, type, function);
}

const undead_instrument *undead_instrument_table(uint32_t version) {
  static const undead_instrument table = {
      .is_active = undead_is_active,
      .add_facts_source = undead_add_facts_source,
      .set_run_loop_runner = undead_set_run_loop_runner,
      .add_run_loop_item = undead_facts_add_run_loop_item,
      .add_diagnostic = undead_facts_add_diagnostic,
      .set_run_loops = undead_facts_set_run_loops,
      .add_note = undead_facts_add_note,
      .allocation_backtrace = undead_allocation_backtrace,
      .caller_backtrace = undead_caller_backtrace,
      .thread_backtrace = undead_thread_backtrace,
      .closure_knows_only_dead = undead_closure_knows_only_dead,
      .zombies_are_active = undead_zombies_are_active,
      .zombie_report = zombie_report,
      .facts_are_last = undead_facts_are_last,
  };
  return version >= 1 && version <= UNDEAD_INSTRUMENT_VERSION ? &table : NULL;
}
