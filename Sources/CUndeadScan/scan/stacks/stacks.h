// Threads: their stacks, storage and registers as roots.
#pragma once
#include "scan/roots/roots_internal.h"

void undead_roots_add_threads(undead_root_search *search);
// The whole block that glibc made or was given for a thread's stack; empty for the first thread.
undead_interval undead_stack_block(uintptr_t tp);

// The same, and leaves out the stacks of threads that have ended.
undead_roots_of_stacks undead_roots_add_stacks;
