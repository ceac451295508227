// How test programs get the library that the programs of the toolchain do without (limits.h): its variables are taken out of the
// environment, and put back when a test program, or the next program of the toolchain, is started.
#include "session/limits/limits.h"
#include "platform/memory/own_data.h"
#include "record/reach.h"
#include "session/buffers/buffers.h"
#include "platform/system/text.h"
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="
#define SESSION "UNDEAD_SESSION="
#define ONLY "UNDEAD_ONLY="

enum { ADDED = 3 };

static struct {
  int32_t pid;              // 0: this program does not hand on anything
  char preload[4096];       // with the name of the variable, as we were started
  char session[1100];
  char others[4096];        // the user's own preloaded libraries, which the program keeps
} relay;

// Programs of the toolchain lie beside its compiler.
static bool is_beside_compiler(const char *program) {
  static const char compiler[] = "/swift-frontend";
  char path[PATH_MAX];
  undead_text_copy(path, sizeof(path) - sizeof(compiler), program);
  char *slash = strrchr(path, '/');
  if (!slash) return false;
  memcpy(slash, compiler, sizeof(compiler));
  return access(path, F_OK) == 0;
}

static bool is_own_entry(const char *entry) {
  return undead_starts_with(entry, PRELOAD) || undead_starts_with(entry, SESSION) || undead_starts_with(entry, ONLY);
}

// The tool puts our library last; what stands before it is the user's.
static void split_preload(const char *entry) {
  undead_text_copy(relay.preload, sizeof(relay.preload), entry);
  undead_text_copy(relay.others, sizeof(relay.others), entry);
  char *colon = strrchr(relay.others, ':');
  *(colon ? colon : relay.others) = 0;
}

// Runs before main, with one thread; the array is the kernel's and ours to change.
static void hide_variables(void) {
  char **kept = environ;
  for (char **entry = environ; *entry; entry++) {
    if (undead_starts_with(*entry, PRELOAD)) split_preload(*entry);
    if (!is_own_entry(*entry)) *kept++ = *entry;
  }
  if (relay.others[0]) *kept++ = relay.others;
  *kept = NULL;
}

// Tells the tool that the instrument got this far.
static void leave_mark(const char *directory) {
  char path[1152];
  undead_text text = undead_text_in(path, sizeof(path));
  undead_text_join(&text, directory, "/relay");
  // A file that is there says the same, no matter which process made it.
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file >= 0) close(file);
}

void undead_relay_begin(const char *session) {
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (length <= 0 || !environ) return;
  program[length] = 0;
  if (!is_beside_compiler(program)) return;
  undead_text text = undead_text_in(relay.session, sizeof(relay.session));
  undead_text_join(&text, SESSION, session);
  hide_variables();
  leave_mark(session);
  relay.pid = getpid();
}

size_t undead_relay_room(char *const *environment) {
  size_t count = 1;
  if (relay.pid == 0) return count;
  while (environment && environment[count - 1]) count++;
  return count + ADDED;
}

char *const *undead_relay_environment(const char *program, bool in_place, char *const *environment, char **room) {
  static char only[] = ONLY "tests";
  if (relay.pid == 0 || !program) return environment;
  bool is_test = undead_record_is_test_program(program);
  // `swift` becomes `swift-test`; what a forked copy becomes is a compiler or the like.
  bool goes_on = in_place && getpid() == relay.pid && is_beside_compiler(program);
  if (!is_test && !goes_on) return environment;
  size_t count = 0;
  for (char *const *entry = environment; entry && *entry; entry++)
    if (!is_own_entry(*entry)) room[count++] = *entry;
  room[count++] = relay.preload;
  room[count++] = relay.session;
  if (!is_test) room[count++] = only;
  room[count] = NULL;
  assert(count < undead_relay_room(environment));
  return room;
}
