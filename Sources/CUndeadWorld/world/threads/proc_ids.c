#include "world/proc_ids.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/system/read_text.h"
#include <fcntl.h>
#include <string.h>

static int32_t process_in_proc;
static bool is_nested;          // the numbers in /proc are not those of system calls

static char *append_number(char *text, uint32_t number) {
  char digits[12];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while (number /= 10);
  while (count) *text++ = digits[--count];
  return text;
}

static char *append(char *text, const char *more) {
  while (*more) *text++ = *more++;
  *text = 0;
  return text;
}

static char *append_task(char *text) {
  return append(append_number(append(text, "/proc/"), (uint32_t)process_in_proc), "/task");
}

// The numbers of a thread, from the namespace of /proc inwards (proc_pid_status(5), NSpid): the first and the last one.
static bool read_numbers(const char *path, int32_t *first, int32_t *last) {
  static const char name[] = "\nNSpid:";
  char text[4096];
  if (undead_read_text(path, text, sizeof text) < 0) return false;
  const char *at = strstr(text, name);
  *first = *last = 0;
  for (at = at ? at + sizeof name - 1 : ""; *at && *at != '\n';) {
    int32_t number = 0;
    while (*at == '\t' || *at == ' ') at++;
    while (*at >= '0' && *at <= '9') number = number * 10 + (*at++ - '0');
    if (number == 0) break;
    if (*first == 0) *first = number;
    *last = number;
  }
  return *first != 0;
}

void undead_proc_ids_refresh(void) {
  int32_t first, last;
  process_in_proc = (int32_t)undead_raw3(SYS_getpid, 0, 0, 0);
  is_nested = false;
  if (!read_numbers("/proc/self/status", &first, &last)) return;
  is_nested = first != process_in_proc;
  process_in_proc = first;
}

int32_t undead_proc_self(void) {
  char text[16];
  int32_t number = 0;
#ifdef SYS_readlink
  long length = undead_raw3(SYS_readlink, (long)"/proc/self", (long)text, sizeof text);
#else
  long length = undead_raw4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self", (long)text, sizeof text);
#endif
  for (long i = 0; i < length && text[i] >= '0' && text[i] <= '9'; i++) number = number * 10 + (text[i] - '0');
  return number ? number : (int32_t)undead_raw3(SYS_getpid, 0, 0, 0);
}

int32_t undead_proc_process(void) { return process_in_proc; }

int32_t undead_proc_thread_id(int32_t entry) {
  char path[64];
  int32_t first, last;
  if (!is_nested) return entry;
  char *end = append(append_task(path), "/");
  append(append_number(end, (uint32_t)entry), "/status");
  return read_numbers(path, &first, &last) ? last : 0;
}

typedef struct {
  int32_t wanted, entry;
} thread_search;

static bool is_other_thread(void *context, int32_t entry) {
  thread_search *search = context;
  if (undead_proc_thread_id(entry) != search->wanted) return true;
  search->entry = entry;
  return false;
}

static int32_t entry_of(int32_t tid) {
  if (!is_nested) return tid;
  thread_search search = {.wanted = tid};
  long directory = undead_proc_open_threads();
  if (directory < 0) return 0;
  undead_proc_each_number(directory, is_other_thread, &search);
  undead_raw3(SYS_close, directory, 0, 0);
  return search.entry;
}

long undead_proc_open_thread(int32_t tid, const char *name) {
  char path[64];
  int32_t entry = entry_of(tid);
  if (!entry) return -1;
  char *end = append(append_task(path), "/");
  append(append(append_number(end, (uint32_t)entry), "/"), name);
  return undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

long undead_proc_open_threads(void) {
  char path[64];
  append_task(path);
  return undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

struct directory_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

bool undead_proc_each_number(long directory, bool (*visit)(void *context, int32_t number), void *context) {
  _Alignas(8) char buffer[8192];
  long length;
  while ((length = undead_raw3(SYS_getdents64, directory, (long)buffer, sizeof buffer)) > 0) {
    for (long offset = 0; offset < length;) {
      const struct directory_entry *entry = (const void *)(buffer + offset);
      offset += entry->length;
      int32_t number = 0;
      for (const char *digit = entry->name; *digit >= '0' && *digit <= '9'; digit++)
        number = number * 10 + (*digit - '0');
      if (number && !visit(context, number)) return true;
    }
  }
  return length == 0;
}
