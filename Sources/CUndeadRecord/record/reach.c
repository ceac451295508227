#define _GNU_SOURCE
#include "record/reach.h"
#include <string.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length > end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

bool undead_record_is_test_program(const char *path) {
  return ends_with(path, ".xctest") || ends_with(path, "-test-runner");
}

static bool is_only_for_tests(void) {
  for (char **entry = environ; entry && *entry; entry++)
    if (strcmp(*entry, "UNDEAD_ONLY=tests") == 0) return true;
  return false;
}

bool undead_record_runs_tests(void) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0) return false;
  path[length] = 0;
  return undead_record_is_test_program(path);
}

bool undead_record_is_meant_here(void) {
  // Asked again after the variable was hidden from the program: the first answer counts.
  static int known;
  if (known == 0) known = !is_only_for_tests() || undead_record_runs_tests() ? 1 : -1;
  return known > 0;
}
