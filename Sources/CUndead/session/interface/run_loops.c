#include "undead_run_loops.h"
#include "platform/memory/own_data.h"

static undead_run_loop_runner runner;

void undead_set_run_loop_runner(undead_run_loop_runner function) {
  __atomic_store_n(&runner, function, __ATOMIC_RELEASE);
}

bool undead_run_current_loop(int64_t nanoseconds) {
  undead_run_loop_runner function = __atomic_load_n(&runner, __ATOMIC_ACQUIRE);
  return function && function(nanoseconds);
}
