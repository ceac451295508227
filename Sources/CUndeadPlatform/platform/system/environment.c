#include "platform/system/environment.h"
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

// Where the kernel put the arguments; exported by the dynamic loader, which sets it first of all.
extern void *__libc_stack_end;

// The kernel's own array, until libc has its variable: number of arguments, arguments, NULL, environment, NULL.
static char **entries(void) {
  if (environ) return environ;
  char **start = __libc_stack_end;
  return start ? start + 1 + *(const long *)start + 1 : NULL;
}

static bool has_other_rights(void) {
  int saved = errno;
  unsigned long secure = getauxval(AT_SECURE);
  errno = saved;
  return secure != 0;
}

const char *undead_setting(const char *name) {
  size_t length = strlen(name);
  char **entry = entries();
  for (; entry && *entry; entry++)
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
      return has_other_rights() ? NULL : *entry + length + 1;
  return NULL;
}
