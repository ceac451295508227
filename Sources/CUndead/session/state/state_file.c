#include "session/state/state_file.h"
#include "platform/memory/own_data.h"
#include "platform/system/own_file.h"
#include "session/buffers/buffers.h"
#include "world/proc_ids.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static undead_state_file no_session;
static undead_state_file *state = &no_session;
static uint64_t activity;

undead_state_file *undead_state_get(void) { return state; }

// Growing a file beyond the limit of the process (ulimit -f) would end the program with SIGXFSZ.
static bool may_grow_to(size_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

static undead_state_file *map_file(const char *path) {
  // One that is there already has its size: the process has only executed another program.
  if (!may_grow_to(sizeof(undead_state_file)) && access(path, F_OK) != 0) return NULL;
  int file = undead_file_own(path);
  if (file < 0) return NULL;
  // posix_fallocate, not ftruncate: a store into a hole of a full file system would end the program with SIGBUS.
  void *mapped = MAP_FAILED;
  if (posix_fallocate(file, 0, sizeof(undead_state_file)) == 0)
    mapped = mmap(NULL, sizeof(undead_state_file), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? NULL : mapped;
}

// What `swift test` runs one program for, again and again, only its arguments tell.
static void read_arguments(char *text, size_t size) {
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, text, size - 1);
  close(file);
  for (ssize_t i = 0; i + 1 < length; i++)
    if (text[i] == 0) text[i] = ' ';
}

static void begin_state(undead_state_file *file, bool forked, bool same_image, uint64_t start_time) {
  static const char magic[8] = {'U', 'N', 'D', 'E', 'A', 'D', 'S', 'T'};
  bool known = memcmp(file->magic, magic, sizeof(magic)) == 0;
  uint32_t generation = known ? file->generation : 0;
  if (!same_image || generation == 0) generation += 1;
  memset(file, 0, sizeof(*file));
  file->version = 1;
  file->pid = (uint32_t)undead_proc_self();
  file->parent_pid = (uint32_t)getppid();
  file->generation = generation;
  file->flags = forked ? UNDEAD_STATE_FORKED : 0;
  file->start = start_time;
  ssize_t length = readlink("/proc/thread-self/exe", file->executable, sizeof(file->executable) - 1);
  if (length < 0) file->executable[0] = 0;
  read_arguments(file->arguments, sizeof(file->arguments));
  file->stage = UNDEAD_STAGE_LOADED;
  // The magic last: a reader that sees it sees a whole file.
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memcpy(file->magic, magic, sizeof(magic));
}

static void path_of(char *path, size_t size, const char *directory) {
  undead_text text = undead_text_in(path, size);
  undead_text_join(&text, directory, "/");
  undead_text_number(&text, undead_proc_self());
  undead_text_add(&text, ".state");
}

bool undead_state_exists(const char *directory) {
  char path[1152];
  path_of(path, sizeof(path), directory);
  return access(path, F_OK) == 0;
}

bool undead_state_open(const char *directory, bool forked, bool same_image, uint64_t start_time) {
  char path[1152];
  path_of(path, sizeof(path), directory);
  undead_state_file *file = map_file(path);
  if (!file) return false;
  begin_state(file, forked, same_image, start_time);
  undead_state_file *old = state;
  state = file;
  if (old != &no_session) munmap(old, sizeof(*old));
  return true;
}

void undead_state_close(void) {
  undead_state_file *old = state;
  state = &no_session;
  if (old != &no_session) munmap(old, sizeof(*old));
}

void undead_state_set_stage(undead_stage stage, const char *message) {
  undead_text_copy(state->message, sizeof(state->message), message ? message : "");
  __atomic_store_n(&state->stage, (uint32_t)stage, __ATOMIC_RELEASE);
  __atomic_add_fetch(&activity, 1, __ATOMIC_RELAXED);
}

void undead_state_set_step(const char *step) {
  __atomic_store_n(&state->progress, 0, __ATOMIC_RELAXED);
  undead_text_copy(state->step, sizeof(state->step), step);
  __atomic_add_fetch(&activity, 1, __ATOMIC_RELAXED);
}

void undead_state_set_progress(uint64_t done, uint64_t all) {
  uint32_t thousandths = all == 0 ? 1000 : (uint32_t)((done < all ? done : all) * 1000 / all);
  __atomic_store_n(&state->progress, thousandths, __ATOMIC_RELAXED);
  __atomic_add_fetch(&activity, 1, __ATOMIC_RELAXED);
}

uint64_t undead_state_activity(void) { return __atomic_load_n(&activity, __ATOMIC_RELAXED); }
