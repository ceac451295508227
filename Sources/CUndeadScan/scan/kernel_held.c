#define _GNU_SOURCE
#include "scan/kernel_held.h"
#include "platform/raw_x86_64.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>

#define MOST_WORDS (1u << 20)

typedef struct {
  uintptr_t *list;
  uint32_t count;
  int32_t process;
} word_list;

static void add(word_list *words, uintptr_t word) {
  if (word >= 4096 && words->count < MOST_WORDS) words->list[words->count++] = word;
}

static uintptr_t parse_hex(const char *text) {
  uintptr_t value = 0;
  for (;; text++) {
    if (*text >= '0' && *text <= '9') value = value << 4 | (uintptr_t)(*text - '0');
    else if (*text >= 'a' && *text <= 'f') value = value << 4 | (uintptr_t)(*text - 'a' + 10);
    else return value;
  }
}

// Adds the hexadecimal number behind `label`, and behind `mark` after that, in each line of a file of /proc.
static void add_from_lines(word_list *words, const char *path, const char *label, char mark) {
  char text[4096];
  size_t used = 0;
  long got, file = undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  while ((got = undead_raw3(SYS_read, file, (long)(text + used), (long)(sizeof text - 1 - used))) > 0) {
    used += (size_t)got;
    text[used] = 0;
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
      *end = 0;
      const char *value = strstr(line, label);
      if (value && mark) value = strchr(value, mark);
      if (!value) continue;
      value += mark ? 1 : strlen(label);
      while (*value == ' ') value++;
      add(words, parse_hex(value));
    }
    used -= (size_t)(line - text);
    if (used == sizeof text - 1) used = 0;   // no line is that long
    memmove(text, line, used);
  }
  undead_raw3(SYS_close, file, 0, 0);
}

static void add_from_poll(word_list *words, uint32_t descriptor) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%u", words->process, descriptor);
  add_from_lines(words, path, "data:", 0);   // fs/eventpoll.c, ep_show_fdinfo
}

static uint32_t size_of_descriptor_table(int32_t process) {
  char path[64], text[4096];
  snprintf(path, sizeof path, "/proc/%d/status", process);
  long file = undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  long length = undead_raw3(SYS_read, file, (long)text, sizeof text - 1);
  undead_raw3(SYS_close, file, 0, 0);
  text[length > 0 ? length : 0] = 0;
  const char *line = strstr(text, "FDSize:");
  return line ? (uint32_t)strtoul(line + sizeof "FDSize:" - 1, NULL, 10) : 0;
}

// An epoll says of a file that was never registered with it that it was not; any other file that it is no epoll.
static bool is_poll(long descriptor, long never_registered) {
  return undead_raw4(SYS_epoll_ctl, descriptor, EPOLL_CTL_DEL, never_registered, 0) == -ENOENT;
}

#define MOST_TAKEN 500u

// Takes each descriptor of the program for a moment: looking it up in /proc takes thirty times as long. False if that is
// not allowed.
static bool add_from_taken(word_list *words) {
  long process = undead_raw3(SYS_pidfd_open, words->process, 0, 0), event = undead_raw3(SYS_eventfd2, 0, 0, 0);
  uint32_t size = size_of_descriptor_table(words->process), taken = 0;
  bool allowed = process >= 0 && event >= 0 && size;
  for (uint32_t i = 0; allowed && i < size; i++) {
    long copy = undead_raw3(SYS_pidfd_getfd, process, i, 0);
    if (copy == -EBADF) continue;
    allowed = copy >= 0;
    if (allowed && is_poll(copy, event)) add_from_poll(words, i);
    if (!allowed || ++taken % MOST_TAKEN) continue;
    undead_raw3(SYS_close_range, event + 1, ~0u, 0);
  }
  undead_raw3(SYS_close_range, event >= 0 ? event : process, ~0u, 0);
  if (process >= 0) undead_raw3(SYS_close, process, 0, 0);
  return allowed;
}

static void add_from_link(word_list *words, long directory, const char *name) {
  char target[64];
  long length = undead_raw4(SYS_readlinkat, directory, (long)name, (long)target, sizeof target - 1);
  if (length <= 0) return;
  target[length] = 0;
  if (!strcmp(target, "anon_inode:[eventpoll]")) add_from_poll(words, (uint32_t)strtoul(name, NULL, 10));
}

struct directory_entry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

static void add_from_links(word_list *words) {
  char path[64];
  _Alignas(8) char buffer[8192];
  snprintf(path, sizeof path, "/proc/%d/fd", words->process);
  long length, directory = undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (directory < 0) return;
  while ((length = undead_raw3(SYS_getdents64, directory, (long)buffer, sizeof buffer)) > 0) {
    for (long offset = 0; offset < length;) {
      const struct directory_entry *entry = (const void *)(buffer + offset);
      offset += entry->length;
      if (entry->name[0] != '.') add_from_link(words, directory, entry->name);
    }
  }
  undead_raw3(SYS_close, directory, 0, 0);
}

static void add_from_timers(word_list *words) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/timers", words->process);
  add_from_lines(words, path, "signal:", '/');   // fs/proc/base.c, show_timer
}

static void add_signal(word_list *words, const siginfo_t *signal) {
  uintptr_t parts[sizeof *signal / sizeof(uintptr_t)];
  memcpy(parts, signal, sizeof parts);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) add(words, parts[i]);
}

static void add_pending(word_list *words, int32_t tid, uint32_t flags) {
  static siginfo_t signals[32];   // not on the helper's stack, which is small
  struct __ptrace_peeksiginfo_args which = {.flags = flags, .nr = 32};
  for (long got;; which.off += (uint64_t)got) {
    got = undead_raw4(SYS_ptrace, PTRACE_PEEKSIGINFO, tid, (long)&which, (long)signals);
    for (long i = 0; i < got; i++) add_signal(words, &signals[i]);
    if (got < which.nr) break;
  }
  memset(signals, 0, sizeof signals);
}

// Only who traces the threads can ask for the signals that wait.
static void add_from_signals(word_list *words, const undead_world *world) {
  bool shared = false;
  if (world->method != UNDEAD_STOP_PTRACE) return;
  for (uint32_t i = 0; i < world->thread_count; i++) {
    const undead_stopped_thread *thread = &world->threads[i];
    if (thread->phase != UNDEAD_THREAD_STOPPED) continue;
    siginfo_t held;
    if (thread->held_signal && !undead_raw4(SYS_ptrace, PTRACE_GETSIGINFO, thread->tid, 0, (long)&held))
      add_signal(words, &held);
    add_pending(words, thread->tid, 0);
    if (!shared) add_pending(words, thread->tid, PTRACE_PEEKSIGINFO_SHARED);
    shared = true;
  }
}

undead_interval undead_kernel_held_words(undead_copies *copies, const undead_world *world) {
  word_list words = {(uintptr_t *)undead_copies_room(copies, MOST_WORDS * sizeof(uintptr_t)), 0, world->process};
  if (!words.list) return (undead_interval){0, 0};
  if (!add_from_taken(&words)) add_from_links(&words);
  add_from_timers(&words);
  add_from_signals(&words, world);
  return (undead_interval){(uintptr_t)words.list, (uintptr_t)(words.list + words.count)};
}
