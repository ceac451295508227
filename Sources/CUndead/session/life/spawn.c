#include "session/state/interpose.h"
#include "platform/memory/own_data.h"
#include "session/limits/limits.h"

static int spawn(
    __typeof__(posix_spawn) *next, pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
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
  return spawn(UNDEAD_NEXT(posix_spawn), pid, path, actions, attributes, arguments, environment);
}

UNDEAD_PUBLIC int posix_spawnp(
    pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *arguments, char *const *environment) {
  return spawn(UNDEAD_NEXT(posix_spawnp), pid, file, actions, attributes, arguments, environment);
}
