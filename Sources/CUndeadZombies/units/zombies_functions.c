#include "zombies/functions/entries_x86_64.c"
#include "zombies/functions/functions.c"
