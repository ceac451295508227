#include "record/free_filter.h"
#include "platform/memory/own_data.h"
#include "record/way.h"

undead_free_filter_function volatile undead_free_keeper;
static undead_free_filter_function volatile free_watcher;

static undead_free_filter_function first_of_filters(void) {
  undead_free_filter_function watcher = __atomic_load_n(&free_watcher, __ATOMIC_SEQ_CST);
  return watcher ? watcher : __atomic_load_n(&undead_free_keeper, __ATOMIC_SEQ_CST);
}

// A thread that changes one of them while another thread does so looks again: the last one to write saw both.
static void choose_filter(void) {
  undead_free_filter_function first;
  do __atomic_store_n(&undead_free_filter, first = first_of_filters(), __ATOMIC_SEQ_CST);
  while (first != first_of_filters());
  undead_way_choose();
}

void undead_free_filter_keep(undead_free_filter_function keeper) {
  __atomic_store_n(&undead_free_keeper, keeper, __ATOMIC_SEQ_CST);
  choose_filter();
}

void undead_free_filter_watch(undead_free_filter_function watcher) {
  __atomic_store_n(&free_watcher, watcher, __ATOMIC_SEQ_CST);
  choose_filter();
}
