// What zombies take for granted about the Swift runtime (runtime/premises.h).
#pragma once
#include "runtime/premises.h"

// Compares the tables of methods of the standard library's classes with what their metadata says. Asks the runtime; with the
// program running.
void undead_premises_of_zombies(undead_premises *premises);
