// The blocks of a heap file by several threads.
#pragma once
#include "scan/graph/graph_walk.h"

// False, with nothing written, if there are no further threads, or no memory for them.
bool undead_graph_write_together(undead_graph_writer *writer, uint32_t threads, uint32_t *blocks);
