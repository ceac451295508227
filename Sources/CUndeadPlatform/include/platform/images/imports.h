// The pointers through which loaded images call functions of other images, or keep their addresses in data.
#pragma once
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct {
  const char *name;
  uintptr_t function;      // what it is bound to
  uintptr_t replacement;
} undead_import;

// Lets the pointers of an image that are bound to a function, or not bound yet, lead to its replacement. `back`: lets those
// that lead to a replacement lead to the function. Returns how many were changed. Each is changed in one step, so other
// threads may run; the image must stay loaded meanwhile.
size_t undead_imports_change(const struct dl_phdr_info *image, const undead_import *imports, size_t count, bool back);

// The same for any word of the image's data that is made read-only when it is relocated (the loader's own pointers).
size_t undead_constants_change(const struct dl_phdr_info *image, const undead_import *imports, size_t count, bool back);

// Calls `visit` with each name that one image looks for elsewhere and another one defines, once for each place that it is
// kept in. False if that is not known of the other one.
typedef void (*undead_import_visitor)(void *context, const char *name);
bool undead_imports_between(const struct dl_phdr_info *user, const struct dl_phdr_info *definer,
                            undead_import_visitor visit, void *context);

// True if the image defines a function or variable of that name for others.
bool undead_image_defines(const struct dl_phdr_info *image, const char *name);

// The address of that function or variable; 0 if it defines none, or one that each thread has, or that is chosen when it is
// looked up. `size` may be NULL.
uintptr_t undead_image_symbol(const struct dl_phdr_info *image, const char *name, size_t *size);

// True if the image has the address.
bool undead_image_has(const struct dl_phdr_info *image, uintptr_t address);

#pragma GCC visibility pop
