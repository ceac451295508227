// Files that the instrument makes, even if another user puts something where they are to be.
//
// A file is made (O_EXCL) under a name that leads nowhere else (O_NOFOLLOW), or taken if it is a regular file with one name
// that this user has made. Nothing is truncated: what has the name is another file, or is replaced as a whole by rename.
// Called by all code that opens a file to write: the state file, the log of zombies, snapshots.
#include "platform/system/own_file.h"
#include "platform/memory/own_data.h"
#include "platform/processor/processor.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MADE (O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW)

// Not fstat(), which older C libraries do not export.
static bool status_of(int file, struct stat *status) {
  return undead_raw4(SYS_newfstatat, file, (long)"", (long)status, AT_EMPTY_PATH) == 0;
}

// The user at the start of the program: one that it became later makes its files anew.
static bool is_own(int file) {
  struct stat status;
  return status_of(file, &status) && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
         status.st_uid == (uid_t)getauxval(AT_EUID);
}

int undead_file_own(const char *path) {
  int file = open(path, MADE, 0600);
  if (file >= 0 || errno != EEXIST) return file;
  file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file >= 0 && is_own(file)) return file;
  if (file >= 0) close(file);
  if (unlink(path) != 0 && errno != ENOENT) return -1;
  return open(path, MADE, 0600);
}

static uint64_t mixed(uint64_t number) {
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
  number = (number ^ number >> 27) * 0x94D049BB133111EBu;
  return number ^ number >> 31;
}

// Made of what only this process knows, the 16 random bytes that the kernel gave it, and of what is different at each call: a
// sandbox may not allow to ask for more.
static uint64_t random_number(void) {
  static uint64_t calls;
  uint64_t secret[2] = {0};
  struct timespec now = {0};
  const void *random = (const void *)getauxval(AT_RANDOM);
  if (random) memcpy(secret, random, sizeof secret);
  clock_gettime(CLOCK_REALTIME, &now);
  uint64_t number = (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec;
  number += __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) << 50;
  number = mixed(number ^ secret[0]);
  number = mixed(number + secret[1]);
  return mixed(number ^ (secret[0] << 17 | secret[0] >> 47));
}

static bool name_beside(const char *path, char *name, size_t size) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  static const char prefix[] = ".undead.";
  static const char suffix[] = ".partial";
  const size_t digits = 12;
  if (folder + sizeof prefix + digits + sizeof suffix > size) return false;
  memcpy(name, path, folder);
  memcpy(name + folder, prefix, sizeof prefix - 1);
  char *at = name + folder + sizeof prefix - 1;
  uint64_t number = random_number();
  for (size_t i = 0; i < digits; i++, number >>= 5) *at++ = letters[number & 31];
  memcpy(at, suffix, sizeof suffix);
  return true;
}

int undead_file_beside(const char *path, char *name, size_t size) {
  for (int i = 0; i < 16; i++) {
    if (!name_beside(path, name, size)) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int file = open(name, MADE, 0600);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// As the kernel does if fs.protected_symlinks is set.
static bool is_planted(const struct stat *link, char *path, size_t folder) {
  struct stat place;
  char first = path[folder];
  path[folder] = 0;
  bool known = undead_raw4(SYS_newfstatat, AT_FDCWD, (long)(folder ? path : "."), (long)&place, 0) == 0;
  path[folder] = first;
  bool is_shared = known && place.st_mode & S_ISVTX && place.st_mode & S_IWOTH;
  return is_shared && link->st_uid != (uid_t)getauxval(AT_EUID) && link->st_uid != place.st_uid;
}

int undead_file_destination(const char *path, char *place, size_t size) {
  enum { MOST_LINKS = 40 };
  if (strlen(path) >= size) return ENAMETOOLONG;
  strcpy(place, path);
  for (int i = 0; i < MOST_LINKS; i++) {
    struct stat status;
    char target[4096];
    if (undead_raw4(SYS_newfstatat, AT_FDCWD, (long)place, (long)&status, AT_SYMLINK_NOFOLLOW) != 0) return 0;
    if (!S_ISLNK(status.st_mode)) return 0;
    const char *slash = strrchr(place, '/');
    size_t folder = slash ? (size_t)(slash - place) + 1 : 0;
    if (is_planted(&status, place, folder)) return EACCES;
    ssize_t length = readlink(place, target, sizeof target);
    if (length <= 0) return errno;
    if (target[0] == '/') folder = 0;
    if (folder + (size_t)length >= size || (size_t)length == sizeof target) return ENAMETOOLONG;
    memcpy(place + folder, target, (size_t)length);
    place[folder + (size_t)length] = 0;
  }
  return ELOOP;
}
