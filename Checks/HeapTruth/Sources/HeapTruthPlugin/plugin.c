// Variables of a library that is loaded while the program runs.
#include "plugin.h"

static void *globals[64];
static __thread void *thread_local_slots[8];

void **truth_plugin_globals(void) { return globals; }
void **truth_plugin_thread_local(void) { return thread_local_slots; }
