// Whether the instrument knows this process: the premises of its answer, checked once, before the first scan.
#pragma once
#include "runtime/premises.h"
#include <stddef.h>

#define UNDEAD_PREMISE_TEXT 200u

// True if everything holds that "no leaks" rests on. If not, a sentence for the user goes to `text`, with the premise and the
// versions of runtime and C library. On the check's thread; not thread-safe.
bool undead_premises_hold(char *text, size_t size);
// Says of a scan that saw objects which it cannot read that a premise failed, for this process and for good.
void undead_premises_refute(const char *what);
// Adds what a layer beside this one checked.
void undead_premises_include(const undead_premises *more);
// What was found, NULL as long as nothing was checked.
const undead_premises *undead_premises_result(void);
// A sentence about premises of one use that failed; false if none did.
bool undead_premises_describe(undead_premise_use use, char *text, size_t size);
// The word beside the first words of all objects whose class has no witnesses of its own; 0 if it is not known.
uintptr_t undead_premises_native_witnesses(void);
