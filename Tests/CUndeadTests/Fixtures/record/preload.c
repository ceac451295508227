// Makes the instrument that it is linked with record from the first allocation on.
#include "record/mode.h"

const int undead_is_preload = 1;
