#include "world/proc_ids.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/system/read_text.h"
#include "platform/system/text.h"
#include <fcntl.h>
#include <string.h>

static int32_t process_in_proc;
static bool is_nested;          // the numbers in /proc are not those of system calls

// The path of the directory of threads, to which more can be added.
static undead_text path_of_threads(char *path, size_t size) {
  undead_text text = undead_text_in(path, size);
  undead_text_add(&text, "/proc/");
  undead_text_number(&text, process_in_proc);
  undead_text_add(&text, "/task");
  return text;
}

// The numbers of a thread, from the namespace of /proc inwards (proc_pid_status(5), NSpid): the first and the last one.
static bool read_numbers(const char *path, int32_t *first, int32_t *last) {
  static const char name[] = "\nNSpid:";
  char text[4096];
  if (undead_read_text(path, text, sizeof text) < 0) return false;
  const char *at = strstr(text, name);
  *first = *last = 0;
  for (at = at ? at + sizeof name - 1 : ""; *at && *at != '\n';) {
    int32_t number = (int32_t)undead_read_number(at, 10, &at);
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
  char text[16] = {0};
  undead_raw3(SYS_readlink, (long)"/proc/self", (long)text, sizeof text - 1);
  int32_t number = (int32_t)undead_read_number(text, 10, NULL);
  return number ? number : (int32_t)undead_raw3(SYS_getpid, 0, 0, 0);
}

int32_t undead_proc_process(void) { return process_in_proc; }

int32_t undead_proc_thread_id(int32_t entry) {
  char path[64];
  int32_t first, last;
  if (!is_nested) return entry;
  undead_text text = path_of_threads(path, sizeof path);
  undead_text_add(&text, "/");
  undead_text_number(&text, entry);
  undead_text_add(&text, "/status");
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
  undead_text text = path_of_threads(path, sizeof path);
  undead_text_add(&text, "/");
  undead_text_number(&text, entry);
  undead_text_join(&text, "/", name);
  return undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

long undead_proc_open_threads(void) {
  char path[64];
  path_of_threads(path, sizeof path);
  return undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

struct directory_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

bool undead_proc_each_entry(long directory, bool (*visit)(void *context, const char *name), void *context) {
  _Alignas(8) char buffer[8192];
  long length;
  while ((length = undead_raw3(SYS_getdents64, directory, (long)buffer, sizeof buffer)) > 0) {
    for (long offset = 0; offset < length;) {
      const struct directory_entry *entry = (const void *)(buffer + offset);
      offset += entry->length;
      if (entry->name[0] != '.' && !visit(context, entry->name)) return true;
    }
  }
  return length == 0;
}

typedef struct {
  bool (*visit)(void *context, int32_t number);
  void *context;
} number_visit;

static bool visit_number(void *context, const char *name) {
  const number_visit *numbers = context;
  int32_t number = (int32_t)undead_read_number(name, 10, NULL);
  return !number || numbers->visit(numbers->context, number);
}

bool undead_proc_each_number(long directory, bool (*visit)(void *context, int32_t number), void *context) {
  return undead_proc_each_entry(directory, visit_number, &(number_visit){visit, context});
}
