// Looks at all descriptors of the stopped program at once. To ask the kernel for each from another process takes ten
// times as long, and the check's own threads and processes do not have them: so a process is made that shares the
// program's table, does nothing with it, and takes a copy of it when it is asked.
#pragma once
#include <stdbool.h>

// On the thread of the check, while it has the program's descriptors.
void undead_descriptors_keep(void);
// In the helper, with the world stopped: runs `work` in that process, with the copy; true if it returned true. Once
// only.
bool undead_descriptors_ask(bool (*work)(void *), void *context);
// On the thread that kept them. May be called again.
void undead_descriptors_drop(void);
