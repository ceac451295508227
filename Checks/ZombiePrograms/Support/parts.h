// What the programs take from C and C++.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*parts_function)(void *context);

// Calls `function` from below a frame that a jump leaves, `depth` frames deep. How often it was called.
int parts_jump(int depth, parts_function function, void *context);
// Sums what containers of C++ hold, some of it thrown as exceptions.
long parts_containers(int count);
// Lines of a text by getline(), strdup(), asprintf() and their kin: the number of bytes.
long parts_lines(int count);
// Blocks of all ways to ask for them, grown, shrunk and checked: a sum of what was in them.
long parts_blocks(unsigned seed, int count);
// Takes a block of the program's, grows it with realloc() and gives it back.
void *parts_grow(void *block, size_t size);
// A linked list whose elements hold contexts; parts_list_end() gives each one to `end`.
typedef struct parts_list parts_list;
parts_list *parts_list_new(void);
void parts_list_add(parts_list *list, void *context);
void parts_list_end(parts_list *list, parts_function end);
// A library is opened, called and closed.
int parts_library(const char *path, int number);
// Writes to pages that a handler of SIGSEGV opens: how many faults there were.
int parts_faults(int pages);
int parts_fork(void);
// The kernel keeps `context` for a file that can be written, and gives it back.
void *parts_ready(int file, void *context);

#ifdef __cplusplus
}
#endif
