#include "session/state/interpose.h"
#include "platform/memory/own_data.h"
#include "session/limits/limits.h"
#include <spawn.h>

typedef int (*spawn_function)(
    pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *);

static spawn_function next_posix_spawn, next_posix_spawnp;

static int spawn(
    spawn_function next, pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment) {
  pid_t child;
  if (!pid) pid = &child;
  char *room[undead_relay_room(environment)];
  environment = undead_relay_environment(path, false, environment, room);
  int error = next(pid, path, actions, attributes, arguments, environment);
  if (error == 0) undead_limits_hand_on(*pid);
  return error;
}

UNDEAD_PUBLIC int posix_spawn(
    pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *arguments, char *const *environment) {
  spawn_function next = UNDEAD_NEXT(next_posix_spawn, "posix_spawn");
  return spawn(next, pid, path, actions, attributes, arguments, environment);
}

UNDEAD_PUBLIC int posix_spawnp(
    pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *arguments, char *const *environment) {
  spawn_function next = UNDEAD_NEXT(next_posix_spawnp, "posix_spawnp");
  return spawn(next, pid, file, actions, attributes, arguments, environment);
}
