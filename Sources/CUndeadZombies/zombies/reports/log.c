#include "zombies/reports/log.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/own_file.h"
#include "zombies/reports/log_modules.h"
#include "zombies/shared/state.h"
#include "zombies/zombies.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 20, MODULE_LISTS = 8, HEADER_BYTES = 256, PATH_BYTES = 1152 };
enum { RECORD_ZOMBIE = 1, RECORD_MODULES = 2 };

typedef struct {
  char magic[8];
  uint32_t version, header_size, pid, generation, flags, last_signal;
  uint64_t used, start, lost;
  undead_zombie_counters counters;
  uint8_t padding[HEADER_BYTES - 56 - sizeof(undead_zombie_counters)];
} log_header;
_Static_assert(sizeof(log_header) == HEADER_BYTES && offsetof(log_header, counters) == 56, "the layout is a contract");

typedef struct {
  uint32_t size, type, kind, flags, accessor, field_offset;
  uint64_t object, implementation, access_time, death_time, count;
  int32_t thread, death_thread;
  uint32_t allocation_count, deallocation_count, access_count, text_bytes;
} zombie_record;
_Static_assert(sizeof(zombie_record) == 88, "the layout is a contract");

static char directory[1024];
static uint32_t generation, header_flags;
static int32_t log_pid;        // process that the mapping belongs to
static log_header *log_file;
const void *undead_zombie_log_memory;
static undead_module_list modules;
static uint32_t module_lists;   // written to this file

static bool may_grow(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= FILE_BYTES;
}

// Without a directory the log is this process's alone, for undead_zombies_copy_log().
static log_header *map_file(void) {
  if (!directory[0]) return undead_map(FILE_BYTES);
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/%d.%u.zombies", directory, getpid(), generation);
  // A file beyond the limit, or a store into a hole of a full file system, would end the program by a signal.
  if (!may_grow()) return NULL;
  int file = undead_file_own(path);
  if (file < 0) return NULL;
  void *mapped = MAP_FAILED;
  if (posix_fallocate(file, 0, FILE_BYTES) == 0)
    mapped = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? NULL : mapped;
}

void undead_zombie_log_set_place(const char *wanted, uint32_t wanted_generation, uint32_t flags) {
  snprintf(directory, sizeof directory, "%s", wanted);
  generation = wanted_generation;
  header_flags = flags;
}

void undead_zombie_log_set_flags(uint32_t flags) {
  header_flags = flags;
  if (log_file) log_file->flags = flags;
}

void undead_zombie_log_begin(void) {
  if (log_file) return;
  int saved = errno;
  log_pid = getpid();
  log_header *file = map_file();
  if (file) {
    *file = (log_header){.version = 1, .header_size = HEADER_BYTES, .used = HEADER_BYTES, .flags = header_flags};
    file->pid = (uint32_t)log_pid;
    file->generation = generation;
    file->start = undead_nanoseconds(CLOCK_REALTIME);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(file->magic, "UNDEADZO", sizeof file->magic);
  }
  modules.known = false;
  module_lists = 0;
  undead_zombie_log_memory = log_file = file;
  errno = saved;
}

void undead_zombie_log_after_fork_in_child(uint32_t child_generation) {
  if (log_file) munmap(log_file, FILE_BYTES);
  undead_zombie_log_memory = log_file = NULL;
  generation = child_generation;
}

// Room for a record at the end of the file; what is not claimed with `finish` was never there.
static void *reserve_record(size_t size) {
  if (log_file->used + size <= FILE_BYTES) return (char *)log_file + log_file->used;
  log_file->lost++;
  return NULL;
}

static void finish(size_t size) { __atomic_store_n(&log_file->used, log_file->used + size, __ATOMIC_RELEASE); }

static bool knows_all(const uintptr_t *frames, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!undead_modules_list_has(&modules, frames[i])) return false;
  return true;
}

// Before the first zombie, and when one has been in code that was loaded later.
static void add_modules(const undead_zombie *zombie) {
  if (module_lists == MODULE_LISTS) return;
  if (modules.known && knows_all(zombie->access, zombie->access_count) &&
      knows_all(zombie->deallocation, zombie->deallocation_count) &&
      knows_all(zombie->allocation, zombie->allocation_count))
    return;
  struct {
    uint32_t size, type, count, unused;
  } header = {.type = RECORD_MODULES};
  size_t room = FILE_BYTES - log_file->used;
  char *record = (char *)log_file + log_file->used;
  if (room < sizeof header) return;
  size_t size = undead_modules_list_write(&modules, record + sizeof header, room - sizeof header, &header.count);
  if (!size) return;
  module_lists++;
  header.size = (uint32_t)(sizeof header + size);
  memcpy(record, &header, sizeof header);
  finish(header.size);
}

static char *put_frames(char *at, const uintptr_t *frames, uint32_t count) {
  memcpy(at, frames, count * sizeof *frames);
  return at + count * sizeof *frames;
}

static size_t put_texts(char *at, const undead_zombie *zombie, const char *note) {
  const char *texts[] = {zombie->type, zombie->field, zombie->thread_name, zombie->death_thread_name, note};
  size_t size = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    size_t length = strlen(texts[i]) + 1;
    if (at) memcpy(at + size, texts[i], length);
    size += length;
  }
  return size;
}

undead_log_entry undead_zombie_log_add(const undead_zombie *zombie, const char *note) {
  if (log_pid != getpid() || !log_file) undead_zombie_log_begin();
  if (!log_file) return 0;
  add_modules(zombie);
  uint32_t frames = zombie->allocation_count + zombie->deallocation_count + zombie->access_count;
  size_t texts = put_texts(NULL, zombie, note);
  size_t size = (sizeof(zombie_record) + frames * sizeof(uintptr_t) + texts + 7) & ~(size_t)7;
  zombie_record *record = reserve_record(size);
  if (!record) return 0;
  *record = (zombie_record){
      .size = (uint32_t)size,
      .type = RECORD_ZOMBIE,
      .kind = zombie->kind,
      .flags = zombie->flags,
      .accessor = zombie->accessor,
      .field_offset = zombie->field_offset,
      .object = zombie->object,
      .implementation = zombie->implementation,
      .access_time = zombie->access_time,
      .death_time = zombie->death_time,
      .count = zombie->count,
      .thread = zombie->thread,
      .death_thread = zombie->death_thread,
      .allocation_count = zombie->allocation_count,
      .deallocation_count = zombie->deallocation_count,
      .access_count = zombie->access_count,
      .text_bytes = (uint32_t)texts,
  };
  char *at = put_frames((char *)(record + 1), zombie->allocation, zombie->allocation_count);
  at = put_frames(at, zombie->deallocation, zombie->deallocation_count);
  at = put_frames(at, zombie->access, zombie->access_count);
  put_texts(at, zombie, note);
  finish(size);
  return (undead_log_entry)((char *)record - (char *)log_file);
}

static zombie_record *record_of(undead_log_entry entry) {
  return entry && log_file && log_pid == getpid() ? (zombie_record *)((char *)log_file + entry) : NULL;
}

void undead_zombie_log_count(undead_log_entry entry, uint64_t count) {
  zombie_record *record = record_of(entry);
  if (record) __atomic_store_n(&record->count, count, __ATOMIC_RELAXED);
}

void undead_zombie_log_void(undead_log_entry entry) {
  zombie_record *record = record_of(entry);
  if (record) __atomic_store_n(&record->kind, 0, __ATOMIC_RELAXED);
}

void undead_zombie_log_signal(int signal) {
  if (log_file && log_pid == getpid()) log_file->last_signal = (uint32_t)signal;
}

size_t undead_zombies_copy_log(void *to, size_t room) {
  if (!log_file || log_pid != getpid()) return 0;
  uint64_t used = __atomic_load_n(&log_file->used, __ATOMIC_ACQUIRE);
  if (used > room) return 0;
  memcpy(to, log_file, used);
  // What has come since is not in the copy.
  ((log_header *)to)->used = used;
  return used;
}

void undead_zombie_log_counters(const undead_zombie_counters *counters) {
  if (log_file && log_pid == getpid()) log_file->counters = *counters;
}
