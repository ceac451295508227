// The session as its tests see it. No stable interface.
#pragma once
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// True if a check's crash stays within its guard although a source of facts was given up before, which returns in the middle of
// that check or after it; and if the program sees its own actions of signals all the time. In a process of its own.
bool undead_test_late_source(bool source_returns);
// NULL if guards keep and lose nothing of the program's; else what is wrong.
const char *undead_test_guards(void);

#ifdef __cplusplus
}
#endif
