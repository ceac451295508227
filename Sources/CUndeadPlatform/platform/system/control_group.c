#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "platform/system/control_group.h"
#include "platform/system/read_text.h"
#include "platform/system/text.h"
#include <stdio.h>
#include <string.h>

enum { LONGEST = 4096 };

// The least number in the files of this name, from the group at `path` up to where the groups are mounted.
static uint64_t least(const char *mount, char *path, const char *file) {
  char name[LONGEST + 128];
  uint64_t least = UINT64_MAX;
  for (char *end = path + strlen(path);; *end = 0) {
    snprintf(name, sizeof name, "%s%s/%s", mount, path, file);
    uint64_t limit = undead_number_in(name);
    if (limit && limit < least) least = limit;
    if (!*path) return least;
    end = strrchr(path, '/');
    if (!end) return least;
  }
}

// A line is "4:memory:/path", with "cpu,memory" where they are mounted together, or "0::/path" in the second version.
uint64_t undead_group_memory_limit(void) {
  char text[LONGEST], root[1] = {0};
  long length = undead_read_text("/proc/self/cgroup", text, sizeof text);
  // In a container its own group may be mounted as the root, whatever its path is called.
  uint64_t result = least("/sys/fs/cgroup", root, "memory.max");
  uint64_t first = least("/sys/fs/cgroup/memory", root, "memory.limit_in_bytes");
  if (first < result) result = first;
  char *rest = length > 0 ? text : NULL, *line;
  while ((line = strsep(&rest, "\n"))) {
    char *path = strstr(line, ":/"), *controller = strstr(line, "memory");
    uint64_t limit = UINT64_MAX;
    if (path && undead_starts_with(line, "0::")) limit = least("/sys/fs/cgroup", path + 1, "memory.max");
    else if (path && controller && controller < path) limit = least("/sys/fs/cgroup/memory", path + 1, "memory.limit_in_bytes");
    if (limit < result) result = limit;
  }
  return result;
}
#endif
