// What zombies take for granted about the Swift runtime (runtime/premises.h).
#pragma once
#include "runtime/premises.h"

// Compares what is read and copied of classes with those of the standard library, once and before a first class is copied. Asks the
// dynamic loader for their names, and nothing of the runtime. False if they are not as expected: then no zombies are kept.
bool undead_premises_let_zombies_start(void);
// What that was, and the tables of methods of generic classes, for which the runtime is asked: with the program running. False if
// no zombies were wanted.
bool undead_premises_of_zombies(undead_premises *premises);
// What was seen of the program's classes whose objects died; false if all was as expected.
bool undead_premises_of_dead_classes(undead_premises *premises);
