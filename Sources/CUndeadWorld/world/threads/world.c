#include "world/world.h"
#include "platform/maps/maps.h"
#include "platform/memory/memory.h"
#include "platform/memory/own_data.h"
#include "platform/system/read_text.h"
#include "platform/processor/words.h"
#include "record/gate.h"
#include "world/images.h"
#include "world/proc_ids.h"

bool undead_world_open(undead_world *world, undead_stop_method method) {
  *world = (undead_world){.method = method};
  undead_learn_vectors();
  undead_proc_ids_refresh();
  world->process = (int32_t)undead_raw3(SYS_getpid, 0, 0, 0);
  world->scanner = (int32_t)undead_raw3(SYS_gettid, 0, 0, 0);
  world->threads = undead_map(UNDEAD_MAX_THREADS * sizeof *world->threads);
  world->vectors = undead_map(UNDEAD_MAX_VECTORS * sizeof *world->vectors);
  if (world->threads && world->vectors) return true;
  undead_world_close(world);
  return false;
}

void undead_world_close(undead_world *world) {
  undead_gate_open();   // the helper may have ended before it could
  if (world->threads) undead_unmap(world->threads, UNDEAD_MAX_THREADS * sizeof *world->threads);
  if (world->vectors) undead_unmap(world->vectors, UNDEAD_MAX_VECTORS * sizeof *world->vectors);
  world->threads = NULL;
  world->vectors = NULL;
}

undead_stopped_thread *undead_world_find(undead_world *world, int32_t tid) {
  for (uint32_t i = 0; i < world->thread_count; i++)
    if (world->threads[i].tid == tid) return &world->threads[i];
  return NULL;
}

undead_stopped_thread *undead_world_add(undead_world *world, int32_t tid) {
  uint32_t count = world->thread_count;
  if (count == UNDEAD_MAX_THREADS) return NULL;
  undead_stopped_thread *thread = &world->threads[count];
  *thread = (undead_stopped_thread){.tid = tid};
  __atomic_store_n(&world->thread_count, count + 1, __ATOMIC_RELEASE);
  return thread;
}

typedef struct {
  const undead_world *world;
  void (*visit)(undead_world *, int32_t tid);
  undead_world *context;
} thread_visit;

static bool visit_entry(void *context, int32_t entry) {
  const thread_visit *visit = context;
  int32_t tid = undead_proc_thread_id(entry);
  if (tid && tid != visit->world->scanner) visit->visit(visit->context, tid);
  return true;
}

bool undead_each_thread(const undead_world *world, void (*visit)(undead_world *, int32_t tid), undead_world *context) {
  long directory = undead_proc_open_threads();
  if (directory < 0) return false;
  bool listed = undead_proc_each_number(directory, visit_entry, &(thread_visit){world, visit, context});
  undead_raw3(SYS_close, directory, 0, 0);
  return listed;
}

char undead_thread_letter(int32_t tid) {
  char text[256];
  long length = undead_read_text_of(undead_proc_open_thread(tid, "stat"), text, sizeof text);
  // The name in parentheses may itself hold parentheses: the state follows the last one.
  for (long i = length - 3; i > 0; i--)
    if (text[i] == ')') return text[i + 2];
  return 0;
}

static size_t cache_place, arena_place;
static uintptr_t asking;

void undead_ending_threads_learn(size_t cache, size_t arena) {
  cache_place = cache;
  arena_place = arena;
}

void undead_ending_threads_except(uintptr_t thread_pointer) { asking = thread_pointer; }

// glibc lets go of the cache as a whole, then frees what is in it, and then lets go of the arena (malloc/arena.c,
// __malloc_arena_thread_freeres). Else only a thread for whose cache there was no memory has none, which is not waited for twice;
// from 2.42 on all have one, and none is seen here.
bool undead_thread_empties_cache(const undead_world *world, uintptr_t thread_pointer) {
  if (!cache_place || !arena_place || world->restarts > 0 || thread_pointer == asking) return false;
  return !word_at(undead_thread_variable(thread_pointer, cache_place)) &&
         word_at(undead_thread_variable(thread_pointer, arena_place));
}

// The thread may be younger than the memory map that was read.
static bool is_readable(uintptr_t low, uintptr_t high) {
  return undead_is_readable(low, high - low) || (undead_maps_refresh() && undead_is_readable(low, high - low));
}

bool undead_thread_must_go_on(const undead_world *world, const undead_stopped_thread *thread) {
  if (!thread->tp) return false;
  undead_thread_state *state = undead_thread_of(thread->tp);
  if (!is_readable((uintptr_t)state, (uintptr_t)(state + 1))) return false;
  undead_frame at = {thread->pc + 1, thread->sp, thread->general[UNDEAD_FP]};
  if (state->held || undead_hook_is_under_way(state, at)) return true;
  uintptr_t cache = undead_thread_variable(thread->tp, cache_place), arena = undead_thread_variable(thread->tp, arena_place);
  return is_readable(cache, cache + 8) && is_readable(arena, arena + 8) && undead_thread_empties_cache(world, thread->tp);
}

// glibc's functions treat vector registers and the red zone as lost across a system call. Other code that makes
// one may not. A system call that is to be restarted lies ahead, else behind.
void undead_note_system_call(undead_stopped_thread *thread) {
  if (!undead_is_libc_code(thread->pc) || !undead_is_libc_code(thread->pc - UNDEAD_SYSTEM_CALL_BYTES)) return;
  thread->in_syscall = undead_is_beside_system_call((const uint8_t *)thread->pc);
}
