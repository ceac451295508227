#include "platform/system/seccomp.h"
#include "platform/processor/processor.h"
#include <fcntl.h>
#include <string.h>

// The value of one line of /proc/self/status, which is longer than any buffer where a process has many groups.
typedef struct {
  const char *name;
  size_t matched;      // characters of `name` seen, SIZE_MAX: not on this line
  bool found;
  uint32_t value;
} status_line;

static void feed(status_line *line, char c) {
  if (line->matched == SIZE_MAX && c != '\n') return;
  size_t length = strlen(line->name);
  if (c == '\n') line->matched = 0;
  else if (line->matched == length && c >= '0' && c <= '9') line->value = line->value * 10 + (uint32_t)(c - '0');
  else if (line->matched < length) line->matched = c == line->name[line->matched] ? line->matched + 1 : SIZE_MAX;
  if (line->matched == length) line->found = true;
}

uint32_t undead_seccomp_filters(void) {
  long file = undead_raw4(SYS_openat, AT_FDCWD, (long)"/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  status_line mode = {.name = "Seccomp:"}, count = {.name = "Seccomp_filters:"};
  char text[1024];
  for (long got; (got = undead_raw3(SYS_read, file, (long)text, sizeof text)) > 0;)
    for (long i = 0; i < got; i++) {
      feed(&mode, text[i]);
      feed(&count, text[i]);
    }
  undead_raw3(SYS_close, file, 0, 0);
  // Kernels before 5.9 do not count them.
  return mode.value == 0 ? 0 : count.found && count.value > 0 ? count.value : 1;
}
