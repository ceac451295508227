// Makes the instrument of this library the one that was preloaded: it records from the first allocation on.
const int undead_is_preload = 1;
