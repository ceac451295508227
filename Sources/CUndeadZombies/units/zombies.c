#include "zombies/zombies.c"
