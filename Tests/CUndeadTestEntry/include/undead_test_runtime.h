// What the runtime layer shows its tests. No stable interface.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Names the object at `object`, a block of malloc that nobody changes meanwhile, as if a scan had found it leaked:
// its name, a line "skip" with the offsets of its weak and unowned words, then a line for each word that leads to a
// Swift object: offset, label, declared type, ownership, "function" if a closure's code is known, name of the target,
// with tabs between. Returns the length of the text. Not thread-safe.
size_t undead_test_describe(const void *object, char *text, size_t text_size);
// The kind of object (undead_kind) that starts with `word`, 0 if none does. Not thread-safe.
uint32_t undead_test_kind(uintptr_t word, size_t size);
// Category (undead_category) and whether it is of the program, of the object at `object`. Not thread-safe.
uint32_t undead_test_category(const void *object, bool *user_type);
// The async frames of the task at `task`, as return addresses, innermost first. Returns their number.
uint32_t undead_test_task_frames(const void *task, uintptr_t *frames, uint32_t max);
// The symbol that contains `address`, in `text`; returns its address, 0 if it is not known. Not thread-safe.
uintptr_t undead_test_symbol_at(uintptr_t address, char *text, size_t text_size);
// The address of a symbol, exported or not, of the first image whose file name starts with `image`. Not thread-safe.
uintptr_t undead_test_symbol(const char *image, const char *name);
// True if the image that holds `address` counts as part of the toolchain or the system. Not thread-safe.
bool undead_test_is_toolchain(uintptr_t address);
// What is known of the words of the object at `object` from the third one on, a letter for each: "r" raw, "c" counted,
// "n" number, "-" nothing. Returns their number. Not thread-safe.
size_t undead_test_evidence(const void *object, char *text, size_t text_size);
// What the names of its captures alone say of the closure with the context `context`, a word for each: "b" box, "f" function, "c"
// code, "r" reference, "v" value; "!" if its type is another one, "e" if it escapes, "?" if it is optional; its size, if it is known.
// Returns the length of the text. Not thread-safe.
size_t undead_test_capture_forms(const void *context, char *text, size_t text_size);
// The same of one name, without references.
size_t undead_test_form_of_name(const char *name, char *text, size_t text_size);
// A number of runtime/abi.h, by its name without the prefix; UINT32_MAX if it has none of that name.
uint32_t undead_test_number(const char *name);

#ifdef __cplusplus
}
#endif
