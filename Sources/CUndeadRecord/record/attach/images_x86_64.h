// Images that come while a program is recorded that was started without the hooks.
#pragma once
#include <stdint.h>

#pragma GCC visibility push(hidden)

// In place of the functions of their names: look for images that have come since, then go on to the real ones, which
// judge their caller by the return address.
extern const char undead_dlopen_seen[], undead_dlsym_seen[];
extern uintptr_t undead_real_dlopen, undead_real_dlsym;

// Called by both: sends the calls of images that have come to the hooks.
extern void (*undead_look_for_images)(void);

#pragma GCC visibility pop
