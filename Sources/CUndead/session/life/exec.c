// Replacing the program by another image: noted, since the new one may be one that the library cannot be loaded into.
#include "session/life/life.h"
#include "platform/memory/own_data.h"
#include "session/state/interpose.h"
#include "session/limits/limits.h"
#include "session/state/process.h"
#include "session/state/state_file.h"
#include <stdarg.h>
#include <unistd.h>

// False in a vfork child, whose memory is its parent's, and where there is nothing to note.
static bool note_exec(void) {
  undead_limits_hand_on(0);   // in a vfork child, too: limits are each process's own
  if (!undead_session_in_charge() || undead_exit_under_way()) return false;
  undead_process process = undead_process_now();
  if (process == UNDEAD_PROCESS_BORROWED) return false;
  if (process == UNDEAD_PROCESS_FORKED) undead_session_adopt_child();
  if (undead_state_get()->stage != UNDEAD_STAGE_RECORDING) return false;
  undead_state_set_stage(UNDEAD_STAGE_EXEC, NULL);
  return true;
}

// The call came back: the program goes on as it was.
static int exec_failed(bool noted) {
  undead_limits_keep();
  if (noted) undead_state_set_stage(UNDEAD_STAGE_RECORDING, NULL);
  return -1;
}

UNDEAD_PUBLIC int execve(const char *path, char *const *arguments, char *const *environment) {
  bool noted = note_exec();
  char *room[undead_relay_room(environment)];
  environment = undead_relay_environment(path, true, environment, room);
  UNDEAD_NEXT(execve)(path, arguments, environment);
  return exec_failed(noted);
}

UNDEAD_PUBLIC int execvpe(const char *file, char *const *arguments, char *const *environment) {
  bool noted = note_exec();
  char *room[undead_relay_room(environment)];
  environment = undead_relay_environment(file, true, environment, room);
  UNDEAD_NEXT(execvpe)(file, arguments, environment);
  return exec_failed(noted);
}

// As in libc, they are no more than that.
UNDEAD_PUBLIC int execv(const char *path, char *const *arguments) { return execve(path, arguments, environ); }
UNDEAD_PUBLIC int execvp(const char *file, char *const *arguments) { return execvpe(file, arguments, environ); }

UNDEAD_PUBLIC int fexecve(int file, char *const *arguments, char *const *environment) {
  bool noted = note_exec();
  UNDEAD_NEXT(fexecve)(file, arguments, environment);
  return exec_failed(noted);
}

static size_t count_arguments(va_list list) {
  size_t count = 1;
  while (va_arg(list, char *)) count++;
  return count;
}

// The first argument and those of the list, with the NULL at their end.
static void gather(char **arguments, const char *first, size_t count, va_list list) {
  arguments[0] = (char *)first;
  for (size_t i = 1; i <= count; i++) arguments[i] = va_arg(list, char *);
}

static int exec_list(
    int (*exec)(const char *, char *const *), const char *program, const char *first, va_list list) {
  va_list counted;
  va_copy(counted, list);
  size_t count = count_arguments(counted);
  va_end(counted);
  char *arguments[count + 1];
  gather(arguments, first, count, list);
  return exec(program, arguments);
}

UNDEAD_PUBLIC int execl(const char *path, const char *first, ...) {
  va_list list;
  va_start(list, first);
  int result = exec_list(execv, path, first, list);
  va_end(list);
  return result;
}

UNDEAD_PUBLIC int execlp(const char *file, const char *first, ...) {
  va_list list;
  va_start(list, first);
  int result = exec_list(execvp, file, first, list);
  va_end(list);
  return result;
}

UNDEAD_PUBLIC int execle(const char *path, const char *first, ...) {
  va_list list;
  va_start(list, first);
  size_t count = count_arguments(list);
  va_end(list);
  char *arguments[count + 1];
  va_start(list, first);
  gather(arguments, first, count, list);
  char *const *environment = va_arg(list, char *const *);
  va_end(list);
  return execve(path, arguments, environment);
}
