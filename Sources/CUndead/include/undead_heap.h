// Heap files: the whole graph of live blocks (Documentation/heap-format.md).
#pragma once
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Like undead_snapshot_write, but the file holds every live block with all references too. The threads stand still while a copy
// of the process is made, which is then written.
bool undead_heap_write(const char *path, char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
