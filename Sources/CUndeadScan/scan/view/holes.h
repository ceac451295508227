// Pages of large blocks that nobody has written. Programs reserve more than they use, and reading gigabytes of zeros takes seconds.
#pragma once
#include "scan/blocks/heap.h"

// Lists what there is of that between the pages of the heap's large blocks. In the process, or the copy of it, that is scanned;
// needs the memory map. Where the kernel does not say which pages there are, none is listed.
void undead_holes_find(undead_heap *heap);
