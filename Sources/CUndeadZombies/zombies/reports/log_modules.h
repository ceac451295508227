// The images of the process, as the kernel tells them: read without the loader's lock, also in signal handlers.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { UNDEAD_MODULE_LIMIT = 1024 };

typedef struct {
  bool known;
  uint32_t count;
  struct { uintptr_t low, high; } range[UNDEAD_MODULE_LIMIT];
} undead_module_list;

bool undead_modules_list_has(const undead_module_list *list, uintptr_t address);
// Lists the images, and writes their records to `at`. Returns the bytes, a multiple of 8;
// 0 if there is no room.
size_t undead_modules_list_write(undead_module_list *list, char *at, size_t room, uint32_t *count);

#pragma GCC visibility pop
