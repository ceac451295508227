// Words of the program that only the kernel has: user data of epoll sets, io_uring and POSIX timers, what waits in pipes, values
// of pending signals. Read from /proc and by system calls, in the helper. If something cannot be read, `unseen` says so: what
// nothing else holds is then no leak.
#include "scan/roots/roots_internal.h"
#include "platform/maps/maps.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include "platform/system/read_text.h"
#include "platform/system/seccomp.h"
#include "platform/system/unread.h"
#include "world/descriptors.h"
#include "world/given.h"
#include "world/proc_ids.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>

#define MOST_WORDS (1u << 20)
#define UNREAD_BYTES (64u << 10)   // what a pipe has room for that nobody enlarged

typedef struct {
  uintptr_t *list;
  char *unread;       // room for UNREAD_BYTES
  uint32_t count;
  int32_t process;
  bool unseen;        // there may be others
} word_list;

static void add_kernel_word(word_list *words, uintptr_t word) {
  if (word < 4096) return;
  if (words->count < MOST_WORDS) words->list[words->count++] = word;
  else words->unseen = true;
}

// What stands in a line of a file of /proc: behind `label`, and behind `mark` after that, if it is not 0.
typedef struct {
  const char *label;
  char mark;
  unsigned base;
} line_format;

static void add_from_line(word_list *words, const char *line, const line_format *format) {
  const char *value = strstr(line, format->label);
  if (value) value = format->mark ? strchr(value, format->mark) : value + strlen(format->label) - 1;
  if (value) add_kernel_word(words, undead_read_number(value + 1, format->base, NULL));
}

static void add_from_lines(word_list *words, const char *path, const line_format *formats, unsigned format_count) {
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
      for (unsigned i = 0; i < format_count; i++) add_from_line(words, line, &formats[i]);
    }
    used -= (size_t)(line - text);
    if (used == sizeof text - 1) used = 0;   // no line is that long
    memmove(text, line, used);
  }
  undead_raw3(SYS_close, file, 0, 0);
}

static void add_from_descriptor(word_list *words, uint32_t descriptor, const line_format *formats, unsigned count) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%u", words->process, descriptor);
  add_from_lines(words, path, formats, count);
}

static void add_from_poll(word_list *words, uint32_t descriptor) {
  static const line_format data = {"data:", 0, 16};   // fs/eventpoll.c, ep_show_fdinfo
  add_from_descriptor(words, descriptor, &data, 1);
}

// The number behind `label` at the start of a line; 0 if there is none.
static unsigned long number_in(const char *text, const char *label) {
  const char *place = strstr(text, label);
  return place ? undead_read_number(place + strlen(label), 0, NULL) : 0;
}

// A request stands in the ring's memory until its place is used again; from then on only the kernel knows it, until it is
// done. That there is no such request nothing tells: one may complete many times, or in silence.
static bool has_forgotten_requests(const char *path) {
  char text[512];
  if (undead_read_text(path, text, sizeof text) < 0) return true;
  unsigned long mask = number_in(text, "\nSqMask:");
  return !strstr(text, "\nCachedSqHead:") || number_in(text, "\nCachedSqHead:") > mask + 1;
}

// io_uring/fdinfo.c: buffers, and completions that wait for room in the ring. The rings themselves are memory.
static void add_from_ring(word_list *words, uint32_t descriptor) {
  static const line_format formats[] = {{": 0x", 0, 16}, {"user_data=", 0, 10}};
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fdinfo/%u", words->process, descriptor);
  add_from_lines(words, path, formats, 2);
  words->unseen |= has_forgotten_requests(path);
}

// Room for so many is in the table of descriptors; 0 if nothing is known.
static uint32_t own_descriptors(void) {
  char text[4096];
  return undead_read_text("/proc/self/status", text, sizeof text) < 0 ? 0 : (uint32_t)number_in(text, "FDSize:");
}

// An epoll says of a file that was never registered with it that it was not; any other file that it is no epoll.
static bool is_poll(long descriptor, long never_registered) {
  return undead_raw4(SYS_epoll_ctl, descriptor, EPOLL_CTL_DEL, never_registered, 0) == -ENOENT;
}

static bool has_rings(void) {
  for (size_t i = 0; i < undead_mapping_count(); i++)
    if (!strcmp(undead_mapping_at(i)->path, "anon_inode:[io_uring]")) return true;
  return false;
}

typedef struct {
  word_list *words;
  long directory;
} link_list;

static bool add_from_link(void *context, const char *name) {
  const link_list *links = context;
  char target[64];
  long length = undead_raw4(SYS_readlinkat, links->directory, (long)name, (long)target, sizeof target - 1);
  if (length <= 0) return true;
  target[length] = 0;
  uint32_t descriptor = (uint32_t)undead_read_number(name, 10, NULL);
  if (!strcmp(target, "anon_inode:[eventpoll]")) add_from_poll(links->words, descriptor);
  if (!strcmp(target, "anon_inode:[io_uring]")) add_from_ring(links->words, descriptor);
  return true;
}

static void add_from_links(word_list *words) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd", words->process);
  long directory = undead_raw4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (directory < 0) return;
  undead_proc_each_entry(directory, add_from_link, &(link_list){words, directory});
  undead_raw3(SYS_close, directory, 0, 0);
}

// Of all files only a ring takes part in this; it asks for nothing.
static bool is_ring(long descriptor) {
  long result = undead_raw6(SYS_io_uring_enter, descriptor, 0, 0, 0, 0, 0);
  return result != -EOPNOTSUPP && result != -EBADF && result != -ENOSYS && result != -EPERM;
}

static void add_unread(word_list *words, long descriptor) {
  bool more;
  size_t size = undead_unread_bytes(descriptor, words->unread, UNREAD_BYTES, &more);
  words->unseen |= more;
  // A record lies anywhere in a stream.
  for (size_t at = 0; at + sizeof(uintptr_t) <= size; at++) {
    uintptr_t word;
    memcpy(&word, words->unread + at, sizeof word);
    if ((word & UNDEAD_REFERENCE_BITS) >> UNDEAD_ADDRESS_BITS == 0) add_kernel_word(words, word);
  }
}

// In a process that has copies of all descriptors: a tenth of the time that it takes to ask for each. False if there is
// no room for another one.
static bool add_from_copies(void *context) {
  word_list *words = context;
  long event = undead_raw3(SYS_eventfd2, 0, 0, 0);
  uint32_t descriptors = event >= 0 ? own_descriptors() : 0;
  // Where a filter says which system calls may be made, those that few programs need are not tried.
  bool filtered = undead_seccomp_filters() > 0;
  for (uint32_t i = 0; i < descriptors; i++) {
    if (is_poll(i, event)) add_from_poll(words, i);
    else if (!filtered && is_ring(i)) add_from_ring(words, i);
    else if (!filtered) add_unread(words, i);
  }
  if (filtered && has_rings()) add_from_links(words);
  return descriptors > 0;
}

static void add_from_timers(word_list *words) {
  char path[64];
  static const line_format value = {"signal:", '/', 16};   // fs/proc/base.c, show_timer
  snprintf(path, sizeof path, "/proc/%d/timers", words->process);
  add_from_lines(words, path, &value, 1);
}

static void add_signal(word_list *words, const siginfo_t *signal) {
  uintptr_t parts[sizeof *signal / sizeof(uintptr_t)];
  memcpy(parts, signal, sizeof parts);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) add_kernel_word(words, parts[i]);
}

// The kernel walks from the first signal to each one that is asked for, and the world stands still.
#define MOST_SIGNALS 512u

static void add_pending(word_list *words, int32_t tid, uint32_t flags) {
  static siginfo_t signals[32];   // not on the helper's stack, which is small
  struct __ptrace_peeksiginfo_args which = {.flags = flags, .nr = 32};
  for (long got; which.off < MOST_SIGNALS; which.off += (uint64_t)got) {
    got = undead_raw4(SYS_ptrace, PTRACE_PEEKSIGINFO, tid, (long)&which, (long)signals);
    for (long i = 0; i < got; i++) add_signal(words, &signals[i]);
    if (got < which.nr) break;
  }
  words->unseen |= which.off >= MOST_SIGNALS;
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

// Who made the replica has asked.
static undead_interval given_words(word_list *words, bool *unseen) {
  const undead_given_world *given = undead_given();
  for (uint64_t i = 0; i < given->held_count; i++) add_kernel_word(words, given->held[i]);
  *unseen = !given->held_known || has_rings() || words->unseen;
  return (undead_interval){(uintptr_t)words->list, (uintptr_t)(words->list + words->count)};
}

undead_interval undead_kernel_held_words(undead_copies *copies, const undead_world *world, bool *unseen) {
  word_list words = {.list = (uintptr_t *)undead_copies_room(copies, MOST_WORDS * sizeof(uintptr_t)),
                     .process = world->process};
  words.unread = (char *)undead_copies_room(copies, UNREAD_BYTES);
  *unseen = !words.list || !words.unread;
  if (*unseen) return (undead_interval){0, 0};
  if (undead_given()) return given_words(&words, unseen);
  uint32_t none = words.count;
  if (!undead_descriptors_ask(add_from_copies, &words)) {
    words.count = none;
    add_from_links(&words);
  }
  add_from_timers(&words);
  add_from_signals(&words, world);
  *unseen = words.unseen;
  return (undead_interval){(uintptr_t)words.list, (uintptr_t)(words.list + words.count)};
}
