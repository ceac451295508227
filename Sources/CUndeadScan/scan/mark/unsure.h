// Objects of which nothing says that they are some: the program's memory may look the same, and begin with the address of a class.
#pragma once
#include "scan/mark/mark.h"

// To be called when all roots are marked. Finds which of them a counted reference names. Of the others, weak and unowned words count
// as numbers from now on (undead_body). False without memory.
bool undead_unsure_doubt(undead_marker *marker);
void undead_unsure_close(undead_bodies *bodies);
