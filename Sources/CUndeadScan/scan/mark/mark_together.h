// Marking by several threads (world/crew.h). What is marked, listed and counted is the same, however they take turns: each
// block is looked at by one of them, and lists are put in order before anything is decided by them.
#pragma once
#include "scan/mark/mark.h"

// Marks all that the waiting blocks lead to, or nothing: without memory or threads, and then one goes on alone.
void undead_mark_together(undead_marker *marker);
// The part of one of the threads.
void undead_mark_with_others(undead_marker *marker);
