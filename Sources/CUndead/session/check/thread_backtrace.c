// The backtrace of a running thread, and the blocks that its stack names. A helper process traces it: a signal would end its sleep or its
// wait early.
#include "session/check/check.h"
#include "record/mode.h"
#include "record/registry.h"
#include "unwind/settings.h"
#include "unwind/walk_x86_64.h"
#include "world/helper.h"
#include "world/world.h"
#include <errno.h>


#define SECONDS 5

typedef struct {
  undead_world world;
  int32_t tid;
  uint32_t count;
  uint32_t indices[UNDEAD_DEPTH_LIMIT];
  undead_named_blocks *named;   // NULL: nobody asks
} job;

static void note_named(undead_named_blocks *named, uintptr_t word) {
  const uint32_t *slot = word % 16 == 0 ? undead_registry_slot(word) : NULL;
  if (!slot || !__atomic_load_n(slot, __ATOMIC_ACQUIRE)) return;
  for (uint32_t i = 0; i < named->count; i++)
    if (named->blocks[i] == word) return;
  if (named->count < UNDEAD_NAMED_BLOCKS) named->blocks[named->count] = word;
  named->count++;
}

// The stack of a thread of pthread_create ends where its record is.
static void read_stack(const undead_stopped_thread *thread, undead_named_blocks *named) {
  enum { MOST_BYTES = 1 << 20 };
  named->count = 0;
  for (int i = 0; i < UNDEAD_GENERAL_REGISTERS; i++) note_named(named, thread->general[i]);
  named->whole = thread->sp < thread->tp && thread->tp - thread->sp <= MOST_BYTES;
  if (!named->whole) return;
  for (uintptr_t at = thread->sp & ~(uintptr_t)7; at < thread->tp; at += 8) note_named(named, *(const uintptr_t *)at);
  named->whole = named->count <= UNDEAD_NAMED_BLOCKS;
}

static int look_at_thread(void *context) {
  job *job = context;
  undead_stop_result result = undead_ptrace_stop_one(&job->world, job->tid);
  const undead_stopped_thread *thread = undead_world_find(&job->world, job->tid);
  if (result == UNDEAD_STOP_OK && thread && thread->phase == UNDEAD_THREAD_STOPPED) {
    // It has not called anything: point behind its instruction, as a return address does.
    undead_frame frame = {thread->pc + 1, thread->sp, thread->general[UNDEAD_FP]};
    undead_walk(undead_thread_of(thread->tp), frame, job->indices, UNDEAD_DEPTH_LIMIT, &job->count);
    if (job->named) read_stack(thread, job->named);
  }
  undead_ptrace_resume(&job->world);
  return 0;
}

static uint32_t capture(job *job, uintptr_t *frames, uint32_t max) {
  if (!undead_world_open(&job->world, UNDEAD_STOP_PTRACE)) return 0;
  undead_helper_report report = undead_helper_run(look_at_thread, job, SECONDS);
  undead_world_close(&job->world);
  if (report.end != UNDEAD_HELPER_DONE) return 0;
  uint32_t count = job->count < max ? job->count : max;
  for (uint32_t i = 0; i < count; i++) frames[i] = undead_pcs[job->indices[i]].pc;
  return count;
}

uint32_t undead_thread_look(int32_t tid, uintptr_t *frames, uint32_t max, undead_named_blocks *named) {
  if (undead_record_mode < UNDEAD_RECORD_BACKTRACES || undead_stop_preference() == UNDEAD_STOP_SIGNALS) return 0;
  int saved_errno = errno;
  // Helpers run one at a time, and that of a check has the right of way.
  undead_check *check = undead_pc_table_prepare() ? undead_check_try_claim() : NULL;
  uint32_t count = 0;
  if (check) {
    job job = {.tid = tid, .named = named};
    count = capture(&job, frames, max);
    undead_check_release(check);
  }
  errno = saved_errno;
  return count;
}


uint32_t undead_thread_backtrace(int32_t tid, uintptr_t *frames, uint32_t max) { return undead_thread_look(tid, frames, max, NULL); }
