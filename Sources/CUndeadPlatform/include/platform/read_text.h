// Short files of /proc, by system calls without libc: on any thread, also with the world stopped.
#pragma once
#include <stddef.h>

#pragma GCC visibility push(hidden)

// Reads the start of a file, zero-terminated; its length, or less than 0 if there is none to read.
long undead_read_text(const char *path, char *text, size_t size);
// The same of a descriptor, which is closed; one below 0 is that of a file that could not be opened.
long undead_read_text_of(long descriptor, char *text, size_t size);

#pragma GCC visibility pop
