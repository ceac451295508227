// What is known of the process that this code runs in: one structure (undead_session), which start.c fills in when a session begins,
// forks or ends. The parts of a session that only ask (limits, checks, snapshots, signals) need no more than this file, and reach
// start.c, which knows all of them, by the three functions that it leaves here.
#include "session/state/process.h"
#include "platform/memory/own_data.h"
#include "platform/system/process_id.h"
#include "record/mode.h"
#include "session/buffers/buffers.h"
#include "undead.h"
#include <sys/mman.h>
#include <unistd.h>

__attribute__((weak)) const int undead_is_preload = 0;

undead_session_state undead_session = {.reason = "recording was not started: start it, or set UNDEAD=1"};
uint64_t undead_recording_since;
uint32_t undead_exit_stage;
static const undead_replica_request *replica;
// One page that a fork wipes and a vfork does not: distinguishes a copy of our memory from our memory itself.
static volatile uint32_t *fork_mark;

void undead_process_mark(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  fork_mark = page;
  *fork_mark = 1;
  madvise(page, 4096, MADV_WIPEONFORK);
}

void undead_process_mark_again(void) {
  if (fork_mark) *fork_mark = 1;
}

undead_process undead_process_now(void) {
  if (getpid() == undead_session.id) return UNDEAD_PROCESS_OWN;
  return fork_mark && *fork_mark == 0 ? UNDEAD_PROCESS_FORKED : UNDEAD_PROCESS_BORROWED;
}

bool undead_session_in_charge(void) { return undead_session.in_charge; }
bool undead_session_has_gaps(void) { return undead_session.has_gaps; }
bool undead_session_has_left(void) { return undead_session.has_left; }
int32_t undead_session_forked_from(void) { return undead_session.forked_from; }
uint64_t undead_session_start_time(void) { return undead_session.start_time; }

void undead_session_set_reason(const char *text) {
  undead_text_copy(undead_session.reason, sizeof(undead_session.reason), text);
}

void undead_session_adopt_child(void) { undead_session.calls.adopt_child(); }
void undead_session_leave(const char *why) { undead_session.calls.leave(why); }
void undead_session_return(void) { undead_session.calls.give_back(); }

int undead_exit_under_way(void) { return __atomic_load_n(&undead_exit_stage, __ATOMIC_ACQUIRE) != 0; }

const undead_replica_request *undead_replica_now(void) { return replica; }
void undead_replica_set_now(const undead_replica_request *request) { replica = request; }

bool undead_is_forked_copy(void) { return undead_session.loading_id && undead_process_id() != undead_session.loading_id; }

bool undead_is_active(void) { return undead_record_mode > UNDEAD_RECORD_OFF; }

const char *undead_inactive_reason(void) { return undead_is_active() ? "" : undead_session.reason; }
