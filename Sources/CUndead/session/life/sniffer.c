// The zombie sniffer, started by the program or by the environment.
#include "undead.h"
#include "undead_zombies.h"
#include "session/state/session.h"
#include "zombies/zombies.h"
#include <errno.h>

bool undead_zombies_start(const undead_zombie_options *options) {
  int saved = errno;
  // Allocations show where a zombie came from; without them the rest works. Samples bring their own.
  if (options->sample) undead_session_begin_unrecorded();
  else if (!undead_is_active()) undead_start();
  bool started = undead_zombies_turn_on(options);
  errno = saved;
  return started;
}
