// Global variables of the program that are numbers, by the types in their symbols' names. Their words are weak evidence, as
// fields of these types are.
#pragma once
#include "scan/roots.h"
#include "world/intervals.h"

// With the world running. Without memory, or for a stripped program, the list is empty.
void undead_numbers_open(undead_intervals *numbers);
void undead_numbers_close(undead_intervals *numbers);
// Makes roots of their own of these variables.
void undead_numbers_mark(undead_roots *roots, const undead_intervals *numbers);
