#include "include/undead_pump.h"
#include <stddef.h>

static undead_run_loop_pump pump_function;

void undead_set_run_loop_pump(undead_run_loop_pump pump) { __atomic_store_n(&pump_function, pump, __ATOMIC_RELEASE); }

bool undead_pump_run_loop(double seconds) {
  undead_run_loop_pump pump = __atomic_load_n(&pump_function, __ATOMIC_ACQUIRE);
  return pump && pump(seconds);
}
