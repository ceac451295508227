#include "undead_supported.h"
#if UNDEAD_SUPPORTED
#include "platform/read_text.h"
#include "platform/processor.h"
#include <fcntl.h>

long undead_read_text_of(long descriptor, char *text, size_t size) {
  text[0] = 0;
  if (descriptor < 0) return descriptor;
  long length = undead_raw3(SYS_read, descriptor, (long)text, (long)size - 1);
  undead_raw3(SYS_close, descriptor, 0, 0);
  text[length > 0 ? length : 0] = 0;
  return length;
}

long undead_read_text(const char *path, char *text, size_t size) {
  return undead_read_text_of(undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0), text, size);
}
#endif
