// Lists of type names (undead_zombie_options): which types are kept, and which get guard pages.
#pragma once
#include <stdbool.h>

#pragma GCC visibility push(hidden)

typedef enum { UNDEAD_LIST_ALLOW, UNDEAD_LIST_DENY, UNDEAD_LIST_GUARD, UNDEAD_LIST_COUNT } undead_type_list;

// Empties a list and takes over the comma-separated `names` (may be NULL).
bool undead_type_list_set(undead_type_list list, const char *names);
// Adds names; false if there is no room for all of them.
bool undead_type_list_add(undead_type_list list, const char *names);
bool undead_type_list_is_empty(undead_type_list list);
// True if one of the names stands for the type `name` ("App.Outer.Inner<Swift.Int>").
bool undead_type_list_has(undead_type_list list, const char *name);

#pragma GCC visibility pop
