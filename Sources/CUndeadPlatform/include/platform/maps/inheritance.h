// What forked copies of this process do not get (madvise: MADV_DONTFORK, MADV_WIPEONFORK). The scan's thread only.
#pragma once
#include <stdbool.h>

// Asks the kernel, which takes long in a large process; false if it does not show.
bool undead_inheritance_learn(void);
// Notes what was learned in the mappings of the last refresh.
void undead_inheritance_note(void);
// In a forked copy: true if it has all the other mappings, with what was in them. The program may have changed its mind
// after it was asked.
bool undead_inheritance_held(void);
