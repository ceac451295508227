// What the list of loaded images says to those that read the images' files.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// Lists the loaded images again. Only undead_modules_refresh calls it: symbols refer to the list.
void undead_modules_list(void);
// True if it lists those that are loaded now.
bool undead_modules_are_current(void);
// The next undead_modules_refresh lists them whatever they are.
void undead_modules_outdate(void);
