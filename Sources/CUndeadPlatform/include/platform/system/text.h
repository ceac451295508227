// A text of bounded length under construction: always terminated, cut off at a character. Without printf, so that it can be used in
// signal handlers, before main and with the world stopped.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma GCC visibility push(hidden)

typedef struct {
  char *start;
  size_t size;     // of the buffer, terminating zero included
  size_t length;   // without the zero
} undead_text;

undead_text undead_text_in(char *buffer, size_t size);
void undead_text_add(undead_text *text, const char *string);
// Adds several strings, one behind the other.
#define undead_text_join(text, ...) \
  undead_text_add_all(text, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
void undead_text_add_all(undead_text *text, const char *const *strings, size_t count);
void undead_text_add_bytes(undead_text *text, const char *bytes, size_t count);
void undead_text_number(undead_text *text, int64_t number);

static inline bool undead_starts_with(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

// The last part of a path.
static inline const char *undead_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

#pragma GCC visibility pop
