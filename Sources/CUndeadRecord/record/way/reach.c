#include "record/reach.h"
#include "platform/system/environment.h"
#include "platform/memory/own_data.h"
#include "platform/system/seccomp.h"
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
  const char *only = undead_setting("UNDEAD_ONLY");
  return only && strcmp(only, "tests") == 0;
}

enum { NOT_ASKED, KNOWN_TO_ALL, UNKNOWN_SANDBOX };
static uint32_t sandbox, filters_at_start;

static uint32_t number(const char *text) {
  uint32_t value = 0;
  for (; text && *text >= '0' && *text <= '9'; text++) value = value * 10 + (uint32_t)(*text - '0');
  return value;
}

bool undead_record_is_sandboxed(void) {
  if (sandbox == NOT_ASKED) {
    bool session = undead_setting("UNDEAD_SESSION") != NULL;
    if (session) filters_at_start = undead_seccomp_filters();
    sandbox = filters_at_start > number(undead_setting("UNDEAD_FILTERS")) ? UNKNOWN_SANDBOX : KNOWN_TO_ALL;
  }
  return sandbox == UNKNOWN_SANDBOX;
}

uint32_t undead_record_filters_at_start(void) { return filters_at_start; }

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
