// Short files of /proc, by system calls without libc: on any thread, also with the world stopped.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

// Reads the start of a file, zero-terminated; its length, or less than 0 if there is none to read.
long undead_read_text(const char *path, char *text, size_t size);
// The same of a descriptor, which is closed; one below 0 is that of a file that could not be opened.
long undead_read_text_of(long descriptor, char *text, size_t size);

// The number behind spaces, the largest one if it has more digits than fit, and where it ends. In place of
// strtoul, which is another symbol in programs that are built with the headers of glibc 2.38. `base`: 10, 16, or 0 for what is
// written as in C.
uint64_t undead_read_number(const char *text, unsigned base, const char **end);
// The number of a setting, with K, M or G behind it or as "64KiB", the largest one if it is larger; false if the text is none, or
// NULL.
bool undead_read_bytes(const char *text, uint64_t *bytes);
// The number that a file begins with, 0 if it has none.
uint64_t undead_number_in(const char *path);
// When the process or thread of a file `stat` began, in ticks since the start of the system; 0 if that is not known.
uint64_t undead_start_ticks(const char *path);

#pragma GCC visibility pop
